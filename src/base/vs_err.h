/* SPDX-License-Identifier: Apache-2.0
 *
 * Error codes shared by every module. Values are pinned: they appear in traces
 * and in `--json` output, so a code is never renumbered. */
#ifndef VS_ERR_H
#define VS_ERR_H

#define VS_MUST_CHECK __attribute__((warn_unused_result))
#define VS_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

enum vs_err {
    VS_OK = 0,
    VS_ERR_ARG = 1,         /* an argument outside the documented range */
    VS_ERR_NOMEM = 2,       /* not enough host memory (mmap, malloc) */
    VS_ERR_IO = 3,          /* a file operation failed; errno has the reason */
    VS_ERR_FORMAT = 4,      /* the bytes are not of the expected format */
    VS_ERR_CORRUPT = 5,     /* right format, but damaged */
    VS_ERR_VERSION = 6,     /* right format, but a version that this build cannot read */
    VS_ERR_END = 7,         /* no more records; not a failure */
    VS_ERR_NOT_FOUND = 8,   /* the named thing does not exist */
    VS_ERR_FOREIGN = 9,     /* a pointer or handle that is not ours: forward it */
    VS_ERR_STATE = 10,      /* wrong state: double free, closed object, capture */
    VS_ERR_DEVICE_OOM = 11, /* the device is out of memory */
    VS_ERR_DEVICE = 12,     /* the device or driver returned another error */
    VS_ERR_UNSUPPORTED = 13,/* not available on this machine or in this build */
    VS_ERR_LIMIT = 14,      /* a configured limit was reached */
};

/* vs_err_text: one sentence fragment for users ("not a vramscope trace or damaged"). Static
 * storage; any thread. */
const char *vs_err_text(enum vs_err err);

#endif
