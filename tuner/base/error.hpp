// Errors that end the program with one line on stderr and the exit code of the contract.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace asterope {

/// Exit codes that scripts rely on.
enum ExitCode { kDone = 0, kFailed = 1, kBadInput = 2, kStale = 3, kInterrupted = 130 };

/// Base of all errors that reach the user; `what()` is the one line to print.
class Error : public std::runtime_error {
  public:
    Error(std::string message, int exit_code)
        : std::runtime_error(one_line(std::move(message))), exit_code_(exit_code) {}
    int exit_code() const { return exit_code_; }

    /// Messages quote the user's text: a file name with a newline or an escape sequence in it.
    static std::string one_line(std::string text) {
        for (char& c : text) {
            if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
        }
        return text;
    }

  private:
    int exit_code_;
};

/// The user gave something that cannot be used: an option, a size, a file.
class BadInput : public Error {
  public:
    explicit BadInput(const std::string& message) : Error(message, kBadInput) {}
};

/// The input was good, the machine was not: no memory, a full disk, a vanished folder.
class Failure : public Error {
  public:
    explicit Failure(const std::string& message) : Error(message, kFailed) {}
};

/// SIGINT, SIGTERM or SIGHUP asked the program to stop.
class Interrupted : public Error {
  public:
    explicit Interrupted(const std::string& message = "interrupted")
        : Error(message, kInterrupted) {}
};

} // namespace asterope
