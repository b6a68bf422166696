/* SPDX-License-Identifier: MIT */
#ifndef PFB_LOCK_H
#define PFB_LOCK_H

/* A mutex of the system, not recursive. Initialise a static one with PFB_LOCK_FREE. Creating one at run time may fail
 * if the system has no more of them. */

#include <stdbool.h>

#if defined(_WIN32)

#include <windows.h>

typedef SRWLOCK pfb_lock;

#define PFB_LOCK_FREE SRWLOCK_INIT

static inline bool pfb_lock_make(pfb_lock *lock)
{
    InitializeSRWLock(lock);
    return true;
}

static inline void pfb_lock_take(pfb_lock *lock)
{
    AcquireSRWLockExclusive(lock);
}

static inline void pfb_lock_release(pfb_lock *lock)
{
    ReleaseSRWLockExclusive(lock);
}

static inline void pfb_lock_unmake(pfb_lock *lock)
{
    (void)lock; /* nothing to release */
}

#else

#include <pthread.h>

typedef pthread_mutex_t pfb_lock;

#define PFB_LOCK_FREE PTHREAD_MUTEX_INITIALIZER

static inline bool pfb_lock_make(pfb_lock *lock)
{
    return pthread_mutex_init(lock, NULL) == 0;
}

/* With default attributes the other three functions fail only for a mutex that is invalid or still held. */

static inline void pfb_lock_take(pfb_lock *lock)
{
    (void)pthread_mutex_lock(lock);
}

static inline void pfb_lock_release(pfb_lock *lock)
{
    (void)pthread_mutex_unlock(lock);
}

static inline void pfb_lock_unmake(pfb_lock *lock)
{
    (void)pthread_mutex_destroy(lock);
}

#endif

#endif
