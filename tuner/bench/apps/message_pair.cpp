// Two processes that pass messages through shared memory, with one copier or another.
#include "bench/apps/message_pair.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/random_stream.hpp"
#include "base/statistics.hpp"
#include "bench/apps/sequence.hpp"
#include "machine/affinity.hpp"
#include "timing/buffer_access.hpp"
#include "timing/clock.hpp"

namespace asterope {

namespace {

/// A pipe's two ends. Throws Failure.
std::array<int, 2> make_pipe() {
    std::array<int, 2> ends;
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw Failure(std::string("cannot make a pipe: ") + std::strerror(errno));
    }
    return ends;
}

/// Whether all of it came: less than a pipe's buffer comes as a whole or not at all.
bool read_all(int from, void* data, std::size_t bytes) {
    ssize_t got;
    do {
        got = read(from, data, bytes);
    } while (got < 0 && errno == EINTR);
    return got == static_cast<ssize_t>(bytes);
}

bool write_all(int to, const void* data, std::size_t bytes) {
    ssize_t put;
    do {
        put = write(to, data, bytes);
    } while (put < 0 && errno == EINTR);
    return put == static_cast<ssize_t>(bytes);
}

constexpr char kReady = 1;

} // namespace

MessagePair::MessagePair(std::vector<Named> copiers, std::size_t ring_bytes,
                         std::size_t message_bytes, int publisher_cpu, int subscriber_cpu,
                         int patience_ms)
    : copiers_(std::move(copiers)), message_bytes_(message_bytes), ring_(ring_bytes, message_bytes),
      patience_ms_(patience_ms) {
    // a child that is gone is found at the end of its pipe, not by the signal of writing to it
    std::signal(SIGPIPE, SIG_IGN);
    try {
        subscriber_ = start(subscriber_cpu, [this](int answers) {
            write_all(answers, &kReady, sizeof kReady);
            subscribe();
        });
        const std::array<int, 2> orders = make_pipe();
        orders_ = orders[1];
        publisher_ = start(publisher_cpu, [&](int answers) {
            close(orders[1]);
            write_all(answers, &kReady, sizeof kReady);
            publish(orders[0], answers);
        });
        close(orders[0]);
        doing_ = "before the first message";
        char ready;
        wait_for_answer(subscriber_, &ready, sizeof ready);
        wait_for_answer(publisher_, &ready, sizeof ready);
    } catch (...) {
        end();
        throw;
    }
}

MessagePair::~MessagePair() {
    end();
}

void MessagePair::end() {
    for (Process* process : {&publisher_, &subscriber_}) {
        if (process->pid > 0) {
            kill(process->pid, SIGKILL);
            waitpid(process->pid, nullptr, 0);
        }
        if (process->answers >= 0) close(process->answers);
        *process = {};
    }
    if (orders_ >= 0) close(orders_);
    orders_ = -1;
}

template <class Work> MessagePair::Process MessagePair::start(int cpu, const Work& work) {
    const std::array<int, 2> answers = make_pipe();
    const pid_t parent = getpid();
    std::fflush(nullptr); // or both would write what is still in the buffers
    const pid_t pid = fork();
    if (pid < 0) {
        throw Failure(std::string("cannot start a process: ") + std::strerror(errno));
    }
    if (pid > 0) {
        close(answers[1]);
        return {pid, answers[0]};
    }
    // In the child, which must not return into the parent's functions.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(kFailed);
    std::signal(SIGINT, SIG_IGN); // a terminal sends it to all; the parent decides
    std::signal(SIGTERM, SIG_DFL);
    std::signal(SIGHUP, SIG_DFL);
    close(answers[0]);
    try {
        // A copy that starts threads does so at its first call, and they stay on the CPUs that
        // their starter had then.
        std::vector<char> from(message_bytes_), to(message_bytes_);
        for (const Named& named : copiers_) {
            named.copier->user_to_shared(to.data(), from.data(), message_bytes_);
        }
        pin_to_cpu(cpu);
        ring_.touch();
        work(answers[1]);
    } catch (...) {
        _exit(kFailed);
    }
    _exit(kDone);
}

void MessagePair::subscribe() {
    for (;;) {
        const std::uint64_t number = ring_.next();
        MessageHeader& header = ring_.header(number);
        Copier& copier = *copiers_[static_cast<std::size_t>(header.copier)].copier;
        header.seen = ticks();
        auto* const user = static_cast<char*>(copier.alloc(header.bytes));
        if (!user) throw Failure("no memory for a message");
        copier.shared_to_user(user, ring_.payload(number), header.bytes);
        header.copied = ticks();
        header.right = read_copy(user, header.bytes) == header.sum;
        header.read = ticks();
        if (header.check_all) {
            header.right &= Sequence{header.first}.is_at(user, 0, header.bytes);
        }
        copier.dealloc(user);
        ring_.release();
    }
}

void MessagePair::publish(int orders, int answers) {
    Order order;
    while (read_all(orders, &order, sizeof order)) {
        Copier& copier = *copiers_[order.copier].copier;
        void* const user = copier.alloc(message_bytes_);
        if (!user) throw Failure("no memory for a message");
        const Answer answer = pass(order, copier, user);
        copier.dealloc(user);
        if (!write_all(answers, &answer, sizeof answer)) return;
    }
}

MessagePair::Answer MessagePair::pass(const Order& order, Copier& copier, void* user) {
    Answer answer{{}, true};
    RandomStream random{order.turn};
    std::vector<double> publish, take, read, total;
    for (unsigned i = 0; i < order.settling + order.timed; ++i) {
        const Sequence data{random()};
        data.write(user, message_bytes_);
        const std::uint64_t number = ring_.claim();
        MessageHeader& header = ring_.header(number);
        const bool timed = i >= order.settling;
        header = {.first = data.first,
                  .sum = data.sum(0, message_bytes_),
                  .bytes = message_bytes_,
                  .copier = static_cast<int>(order.copier),
                  .check_all = !timed,
                  .seen = 0,
                  .copied = 0,
                  .read = 0,
                  .right = false};
        const std::uint64_t begin = ticks();
        copier.user_to_shared(ring_.payload(number), user, message_bytes_);
        const std::uint64_t published = ticks();
        ring_.publish();
        ring_.wait_until_taken();
        answer.right &= header.right;
        if (!timed) continue;
        publish.push_back(seconds_between(begin, published));
        take.push_back(seconds_between(header.seen, header.copied));
        read.push_back(seconds_between(header.copied, header.read));
        total.push_back(seconds_between(begin, header.read));
    }
    answer.times = {median(publish), median(take), median(read), median(total)};
    return answer;
}

MessageTimes MessagePair::run(std::size_t copier, unsigned settling, unsigned timed) {
    const std::string& name = copiers_.at(copier).name;
    doing_ = "in a turn of " + name;
    const Order order{copier, settling, timed, turns_++};
    if (!write_all(orders_, &order, sizeof order)) fail_for(publisher_);
    Answer answer;
    wait_for_answer(publisher_, &answer, sizeof answer);
    if (!answer.right) {
        throw Failure("a message arrived changed: " + name +
                      " copies wrongly; do not use this routine");
    }
    return answer.times;
}

void MessagePair::wait_for_answer(Process& process, void* answer, std::size_t bytes) {
    for (;;) {
        throw_if_interrupted();
        pollfd ends[] = {{process.answers, POLLIN, 0}, {subscriber_.answers, 0, 0}};
        const int ready = poll(ends, 2, patience_ms_);
        if (ready < 0 && errno == EINTR) continue;
        if (ready == 0) {
            throw Failure("publisher and subscriber have not answered for " +
                          std::to_string(patience_ms_ / 1000) + " s " + doing_);
        }
        if (ends[0].revents & POLLIN) {
            if (read_all(process.answers, answer, bytes)) return;
            fail_for(process);
        }
        fail_for(ends[0].revents ? process : subscriber_);
    }
}

void MessagePair::fail_for(Process& process) {
    int status = 0;
    waitpid(process.pid, &status, 0);
    const std::string role = &process == &subscriber_ ? "subscriber" : "publisher";
    const std::string how = WIFSIGNALED(status)
                                ? "was ended by signal " + std::to_string(WTERMSIG(status)) + " (" +
                                      strsignal(WTERMSIG(status)) + ')'
                                : "ended with exit code " + std::to_string(WEXITSTATUS(status));
    process.pid = -1; // it has been waited for
    throw Failure("the " + role + ' ' + how + ' ' + doing_);
}

} // namespace asterope
