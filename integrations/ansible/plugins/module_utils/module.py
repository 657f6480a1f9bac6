# SPDX-License-Identifier: Apache-2.0
"""The frame of every module: common options, check mode, the diff, and errors."""

import unicodedata

from ansible.module_utils.basic import AnsibleModule, env_fallback

from ansible_collections.skerry.cloud.plugins.module_utils.client import (
    ApiError, Client, ConnectionFailure, Failure)

API_OPTIONS = {
    'api_token': {
        'type': 'str',
        'required': True,
        'no_log': True,
        'fallback': (env_fallback, ['SKERRY_TOKEN']),
    },
    'api_url': {'type': 'str', 'required': True, 'fallback': (env_fallback, ['SKERRY_API_URL'])},
    'ca_path': {'type': 'path'},
}
WAIT_OPTIONS = {
    'wait': {'type': 'bool', 'default': True},
    'wait_timeout': {'type': 'int', 'default': 600},
}


class Run:
    """One run of a module. In check mode, `change` only predicts."""

    def __init__(self, module):
        params = module.params
        self.module = module
        self.params = params
        if params.get('name') is not None:
            # The form in which the service stores and compares names.
            params['name'] = unicodedata.normalize('NFC', params['name'])
        self.client = Client(params['api_url'], params['api_token'], params['ca_path'])
        self.changed = False

    def change(self, predicted, call):
        """Makes a change, and returns the resource after it. In check mode, returns `predicted`."""
        if self.module.check_mode:
            self.changed = True
            return predicted
        try:
            result = call()
        except (ApiError, ConnectionFailure) as error:
            # Without a response, or after an internal error, the change may have been made.
            self.changed = self.changed or getattr(error, 'status', 500) == 500
            raise
        self.changed = True
        return result

    def require(self, noun, options):
        """Returns the values of options that only a new resource needs."""
        values = {option: self.params[option] for option in options}
        missing = [option for option, value in values.items() if value is None or value == []]
        if missing:
            name = '' if self.params['name'] is None else ' %s' % self.params['name']
            raise Failure('to create the %s%s, set %s' % (noun, name, ', '.join(missing)))
        return values

    def differences(self, found, options):
        """Returns the given options whose value differs from that of the resource."""
        params = self.params
        return {name: params[name] for name in options if params[name] not in (None, found[name])}

    def refuse_changes(self, noun, found, options):
        """Fails if an option differs that only a new resource can have."""
        differing = self.differences(found, options)
        if differing:
            reasons = ['%s is %s, not %s' % (name, found[name], differing[name]) for name in options
                       if name in differing]
            raise Failure('cannot change %s of an existing %s: %s'
                          % (', '.join(differing), noun, '; '.join(reasons)))


def execute(options, work, **rules):
    """Runs a module. `work(run)` returns its result, with `before` and `after` if it has a diff."""
    module = AnsibleModule(argument_spec=dict(API_OPTIONS, **options), supports_check_mode=True, **rules)
    failure, run = None, None
    try:
        run = Run(module)
        result = work(run)
    except Failure as caught:
        failure = caught
    if failure is not None:
        # Outside of `except`, so that the result has no traceback.
        module.fail_json(msg=str(failure), changed=run is not None and run.changed, **failure.details())
    if 'before' in result:
        before, after = result.pop('before'), result.pop('after', None)
        if module._diff:
            result['diff'] = {'before': before or {}, 'after': after or {}}
    module.exit_json(changed=run.changed, **result)


def view(resource, fields):
    """Returns the fields of a resource that a diff shows; None for no resource."""
    return None if resource is None else {name: resource.get(name) for name in fields}
