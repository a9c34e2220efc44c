#include <cmark-gfm.h>
#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm/houdini.h>
#include <string.h>

// Writes the characters of a named reference, such as "eacute;", as UTF-8. Returns the count of bytes, or 0 for an
// unknown name.
static inline int loop_cmark_reference(const unsigned char *name, int count, unsigned char output[8]) {
    cmark_strbuf buffer;
    cmark_strbuf_init(cmark_get_default_mem_allocator(), &buffer, 8);
    int isKnown = houdini_unescape_ent(&buffer, name, count) == count && buffer.size <= 8;
    int written = isKnown ? buffer.size : 0;
    memcpy(output, buffer.ptr, written);
    cmark_strbuf_free(&buffer);
    return written;
}
