# SPDX-License-Identifier: Apache-2.0
"""Protection of servers, volumes, and snapshots against deletion and rebuilds."""

from ansible_collections.skerry.cloud.plugins.module_utils.client import Failure

DELETE = {'type': 'dict', 'options': {'delete': {'type': 'bool'}}}
DELETE_AND_REBUILD = {'type': 'dict', 'options': {'delete': {'type': 'bool'}, 'rebuild': {'type': 'bool'}}}


def wanted_protection(run):
    """Returns the members of the option that the task sets."""
    return {name: value for name, value in (run.params['protection'] or {}).items() if value is not None}


def protection_patch(run, found):
    """Returns the change of the protection, for a PATCH."""
    current = found.get('protection') or {}
    differing = {name: value for name, value in wanted_protection(run).items() if value != current.get(name)}
    return {'protection': differing} if differing else {}


def predict(found, patch):
    """Returns the resource after a PATCH, which changes only the named members of the protection."""
    after = dict(found, **patch)
    if 'protection' in patch:
        after['protection'] = dict(found.get('protection') or {}, **patch['protection'])
    return after


def require_unprotected(noun, found, member):
    """Fails like the service, also in check mode. A task never lifts the protection that it breaks."""
    if (found.get('protection') or {}).get(member):
        raise Failure('protection.%s: the %s %s is protected; set it to false in a task before this one'
                      % (member, noun, found['name']))
