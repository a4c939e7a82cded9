// The spaces of one operation in a run, and the copies of them that copy right here.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "search/search.hpp"
#include "space/candidates.h"
#include "space/space.hpp"
#include "space/verify.hpp"

namespace asterope {

struct Spaces {
    /// Candidate, reason. A candidate of another operation than copies has the operation's name in
    /// front: small copies and small sets have the same names.
    using Invalids = std::vector<std::pair<std::string, std::string>>;

    /// Builds the spaces and proves their members right. To be called before the buffers are taken:
    /// the child processes of the verification stay small. `extended`: with the extension axes;
    /// `sensing`: with the copies that sense. Warns on stderr of those that copy wrongly. `known`:
    /// those that copied wrongly in an earlier run, maybe on another machine, of all operations.
    /// With it nothing is run.
    Spaces(const HasFeature& features, bool extended, bool sensing,
           Operation operation = Operation::copy,
           const std::optional<Invalids>& known = std::nullopt);

    /// 16 hexadecimal digits over the names of all pipelines, of the other members that copy right,
    /// and of the invalid ones, in their order. Right copies of overlapping buffers are left out:
    /// older logs do not know them and lack their step.
    std::string hash() const;

    std::vector<Candidate> space;  ///< all pipelines: the paper's first, then the extension's
    std::vector<Entrant> entrants; ///< those of the paper's that copy right
    Extension extension;           ///< empty functions where not extended
    /// Whether a member of `space` copies right.
    std::function<bool(Entrant)> right_pipeline;
    /// The members of the other kinds that copy right, in the order of kinds_of().
    using Members = std::vector<const asterope_copy*>;
    std::vector<std::pair<const asterope_kind*, Members>> kinds;
    /// The members of one kind, by its name; empty where the operation lacks that kind.
    const Members& members(std::string_view kind) const;
    Invalids invalid;
    bool senses; ///< copies that sense are tried

  private:
    using Faults = std::vector<bool>; ///< by copy
    /// Marks those of `count` copies that copy wrongly. `verify` or an earlier run names them.
    Faults find_faults(std::size_t count, const std::function<std::string(std::size_t)>& name,
                       const std::function<std::vector<Invalid>()>& verify);
    Members members_that_copy_right(const asterope_kind& kind, const HasFeature& features);

    std::string prefix_; ///< of invalid copies' names

    bool verified_; ///< here, and not taken from an earlier run
};

} // namespace asterope
