/* SPDX-License-Identifier: MIT */
#ifndef PFB_LOCK_H
#define PFB_LOCK_H

/* A mutual exclusion of threads, the system's own. Held by one thread at a time, which does not take it again. One that
 * is static is made with PFB_LOCK_FREE. */

#if defined(_WIN32)

#include <windows.h>

typedef SRWLOCK pfb_lock;

#define PFB_LOCK_FREE SRWLOCK_INIT

static inline void pfb_lock_make(pfb_lock *lock)
{
    InitializeSRWLock(lock);
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
    (void)lock; /* there is nothing to it */
}

#else

#include <pthread.h>

typedef pthread_mutex_t pfb_lock;

#define PFB_LOCK_FREE PTHREAD_MUTEX_INITIALIZER

/* With default attributes and memory of the caller's none of these fails. */
static inline void pfb_lock_make(pfb_lock *lock)
{
    (void)pthread_mutex_init(lock, NULL);
}

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
