#include <curl/curl.h>

// curl_easy_setopt, curl_easy_getinfo and curl_multi_setopt are C variadics, which Swift does not import:
// one typed wrapper for each kind of argument. The parentheses keep libcurl's type-checking macros away.
static inline CURLcode loop_curl_set_long(CURL *handle, CURLoption option, long value) {
    return (curl_easy_setopt)(handle, option, value);
}

static inline CURLcode loop_curl_set_string(CURL *handle, CURLoption option, const char *value) {
    return (curl_easy_setopt)(handle, option, value);
}

static inline CURLcode loop_curl_set_pointer(CURL *handle, CURLoption option, void *value) {
    return (curl_easy_setopt)(handle, option, value);
}

static inline CURLcode loop_curl_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
    return (curl_easy_setopt)(handle, option, value);
}

typedef size_t (*loop_curl_receiver)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode loop_curl_set_receiver(CURL *handle, CURLoption option, loop_curl_receiver value) {
    return (curl_easy_setopt)(handle, option, value);
}

static inline CURLcode loop_curl_get_long(CURL *handle, CURLINFO info, long *value) {
    return (curl_easy_getinfo)(handle, info, value);
}

static inline CURLcode loop_curl_get_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
    return (curl_easy_getinfo)(handle, info, value);
}

static inline CURLcode loop_curl_get_pointer(CURL *handle, CURLINFO info, void **value) {
    return (curl_easy_getinfo)(handle, info, value);
}

static inline CURLMcode loop_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return (curl_multi_setopt)(multi, option, value);
}

// CURLMsg has a union, whose two readings are functions here.
static inline CURLcode loop_curl_message_result(const CURLMsg *message) { return message->data.result; }
