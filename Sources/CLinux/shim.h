// What the Glibc module does not import.
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
