#include <microhttpd.h>

// libmicrohttpd takes its options as C variadics, which Swift does not import. connections_per_address is 0 for no limit.
static inline struct MHD_Daemon *loop_httpd_start(
    unsigned int flags, const struct sockaddr *address, unsigned int connections_max, unsigned int idle_seconds,
    unsigned int connections_per_address, MHD_AccessHandlerCallback handler, MHD_RequestCompletedCallback completed,
    size_t (*unescape)(void *, struct MHD_Connection *, char *), void *state) {
    return MHD_start_daemon(
        flags, 0, NULL, NULL, handler, state,
        MHD_OPTION_SOCK_ADDR, address,
        MHD_OPTION_CONNECTION_LIMIT, connections_max,
        MHD_OPTION_CONNECTION_TIMEOUT, idle_seconds,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, connections_per_address,
        MHD_OPTION_LISTEN_BACKLOG_SIZE, 1024u,
        MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
        MHD_OPTION_NOTIFY_COMPLETED, completed, state,
        MHD_OPTION_UNESCAPE_CALLBACK, unescape, state,
        MHD_OPTION_END);
}

static inline unsigned int loop_httpd_port(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info == NULL ? 0 : info->port;
}

static inline int loop_httpd_listener(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_LISTEN_FD);
    return info == NULL ? -1 : info->listen_fd;
}

// Readable when there is something to do for the daemon.
static inline int loop_httpd_epoll(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info == NULL ? -1 : info->epoll_fd;
}

static inline unsigned int loop_httpd_connections(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
    return info == NULL ? 0 : info->num_connections;
}
