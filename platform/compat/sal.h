/* SPDX-License-Identifier: MIT */
#ifndef PFB_COMPAT_SAL_H
#define PFB_COMPAT_SAL_H

/* The common annotations of <sal.h>, without effect. On Windows, includes the system's header and defines only the
 * annotations that it lacks. */
#if defined(_WIN32)
#include_next <sal.h>
#endif
#include "keywords.h"

#ifndef _Check_return_
#define _Check_return_
#endif
#ifndef _In_
#define _In_
#endif
#ifndef _In_opt_
#define _In_opt_
#endif
#ifndef _In_opt_z_
#define _In_opt_z_
#endif
#ifndef _In_z_
#define _In_z_
#endif
#ifndef _Inout_
#define _Inout_
#endif
#ifndef _Inout_opt_
#define _Inout_opt_
#endif
#ifndef _Inout_z_
#define _Inout_z_
#endif
#ifndef _Must_inspect_result_
#define _Must_inspect_result_
#endif
#ifndef _Null_terminated_
#define _Null_terminated_
#endif
#ifndef _Out_
#define _Out_
#endif
#ifndef _Out_opt_
#define _Out_opt_
#endif
#ifndef _Outptr_
#define _Outptr_
#endif
#ifndef _Outptr_opt_
#define _Outptr_opt_
#endif
#ifndef _Outptr_result_maybenull_
#define _Outptr_result_maybenull_
#endif
#ifndef _Post_invalid_
#define _Post_invalid_
#endif
#ifndef _Post_valid_
#define _Post_valid_
#endif
#ifndef _Pre_maybenull_
#define _Pre_maybenull_
#endif
#ifndef _Pre_notnull_
#define _Pre_notnull_
#endif
#ifndef _Pre_valid_
#define _Pre_valid_
#endif
#ifndef _Reserved_
#define _Reserved_
#endif
#ifndef _Ret_maybenull_
#define _Ret_maybenull_
#endif
#ifndef _Ret_notnull_
#define _Ret_notnull_
#endif
#ifndef _Ret_z_
#define _Ret_z_
#endif

#ifndef _Field_size_
#define _Field_size_(size)
#endif
#ifndef _Field_size_bytes_
#define _Field_size_bytes_(size)
#endif
#ifndef _In_bytecount_
#define _In_bytecount_(size)
#endif
#ifndef _In_count_
#define _In_count_(size)
#endif
#ifndef _In_reads_
#define _In_reads_(size)
#endif
#ifndef _In_reads_bytes_
#define _In_reads_bytes_(size)
#endif
#ifndef _In_reads_bytes_opt_
#define _In_reads_bytes_opt_(size)
#endif
#ifndef _In_reads_opt_
#define _In_reads_opt_(size)
#endif
#ifndef _Inout_updates_
#define _Inout_updates_(size)
#endif
#ifndef _Inout_updates_bytes_
#define _Inout_updates_bytes_(size)
#endif
#ifndef _Out_bytecap_
#define _Out_bytecap_(size)
#endif
#ifndef _Out_cap_
#define _Out_cap_(size)
#endif
#ifndef _Out_writes_
#define _Out_writes_(size)
#endif
#ifndef _Out_writes_bytes_
#define _Out_writes_bytes_(size)
#endif
#ifndef _Out_writes_bytes_opt_
#define _Out_writes_bytes_opt_(size)
#endif
#ifndef _Out_writes_opt_
#define _Out_writes_opt_(size)
#endif
#ifndef _Out_writes_z_
#define _Out_writes_z_(size)
#endif
#ifndef _Post_readable_byte_size_
#define _Post_readable_byte_size_(size)
#endif
#ifndef _Post_writable_byte_size_
#define _Post_writable_byte_size_(size)
#endif
#ifndef _Pre_readable_byte_size_
#define _Pre_readable_byte_size_(size)
#endif
#ifndef _Success_
#define _Success_(size)
#endif

#ifndef _In_range_
#define _In_range_(a, b)
#endif
#ifndef _Out_bytecap_post_bytecount_
#define _Out_bytecap_post_bytecount_(a, b)
#endif
#ifndef _Out_cap_post_count_
#define _Out_cap_post_count_(a, b)
#endif
#ifndef _Out_writes_bytes_to_
#define _Out_writes_bytes_to_(a, b)
#endif
#ifndef _Out_writes_bytes_to_opt_
#define _Out_writes_bytes_to_opt_(a, b)
#endif
#ifndef _Out_writes_to_
#define _Out_writes_to_(a, b)
#endif
#ifndef _Out_writes_to_opt_
#define _Out_writes_to_opt_(a, b)
#endif
#ifndef _Ret_range_
#define _Ret_range_(a, b)
#endif
#ifndef _When_
#define _When_(a, b)
#endif

#endif
