/* SPDX-License-Identifier: MIT */
#ifndef PFB_LOCK_H
#define PFB_LOCK_H

/* A mutex, not recursive. Initialise a static one with PFB_LOCK_INIT, any other with pfb_lock_init, which returns false
 * if the system has no resources for it. */

#include <stdbool.h>

#if defined(_WIN32)

#include <windows.h>

typedef SRWLOCK pfb_lock;

#define PFB_LOCK_INIT SRWLOCK_INIT

static inline bool pfb_lock_init(pfb_lock *lock)
{
    InitializeSRWLock(lock);
    return true;
}

static inline void pfb_lock_acquire(pfb_lock *lock)
{
    AcquireSRWLockExclusive(lock);
}

static inline void pfb_lock_release(pfb_lock *lock)
{
    ReleaseSRWLockExclusive(lock);
}

static inline void pfb_lock_destroy(pfb_lock *lock)
{
    (void)lock; /* nothing to release */
}

#else

#include <pthread.h>

typedef pthread_mutex_t pfb_lock;

#define PFB_LOCK_INIT PTHREAD_MUTEX_INITIALIZER

static inline bool pfb_lock_init(pfb_lock *lock)
{
    return pthread_mutex_init(lock, NULL) == 0;
}

/* Results are ignored: with default attributes, lock and unlock fail only on an invalid mutex, and destroy also on one
 * that is held. */

static inline void pfb_lock_acquire(pfb_lock *lock)
{
    (void)pthread_mutex_lock(lock);
}

static inline void pfb_lock_release(pfb_lock *lock)
{
    (void)pthread_mutex_unlock(lock);
}

static inline void pfb_lock_destroy(pfb_lock *lock)
{
    (void)pthread_mutex_destroy(lock);
}

#endif

#endif
