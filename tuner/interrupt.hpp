// Turns SIGINT, SIGTERM and SIGHUP into an orderly end.
#pragma once

namespace asterope {

/// From now on these signals are only noted; those that are ignored stay so.
void catch_interrupts();

/// Throws Interrupted if one has come. To be called between trials.
void throw_if_interrupted();

} // namespace asterope
