# SPDX-License-Identifier: Apache-2.0
"""Options that every module shares."""


class ModuleDocFragment:
    DOCUMENTATION = r'''
options:
  api_token:
    description:
      - API token of the account. The scope C(write) is enough for every module, and C(read) for the info
        modules.
      - Default is the environment variable C(SKERRY_TOKEN).
    type: str
    required: true
  api_url:
    description:
      - Address of the host, such as C(https://skerry.example).
      - Default is the environment variable C(SKERRY_API_URL).
    type: str
    required: true
  ca_path:
    description: File with the certificate authorities to trust instead of those of the system.
    type: path
requirements:
  - Python 3.8 or later on the machine that runs the module, usually the controller
notes:
  - Calls that exceed the rate limit wait and retry, up to five minutes. Server errors and broken connections
    are retried three times. A retry never repeats a change.
'''

    ATTRIBUTES = r'''
attributes:
  check_mode:
    description: Predicts the result without changing anything.
    support: full
  diff_mode:
    description: Shows the fields that change.
    support: full
  action_group:
    description: Options for all modules can be set in C(module_defaults) with C(group/skerry.cloud.skerry).
    support: full
    membership: [skerry.cloud.skerry]
'''

    INFO = r'''
attributes:
  check_mode:
    description: Reads only.
    support: full
  diff_mode:
    description: Changes nothing.
    support: N/A
  action_group:
    description: Options for all modules can be set in C(module_defaults) with C(group/skerry.cloud.skerry).
    support: full
    membership: [skerry.cloud.skerry]
'''

    WAIT = r'''
options:
  wait:
    description: Whether to wait until the operation is done.
    type: bool
    default: true
  wait_timeout:
    description: Maximum time to wait, in seconds. The operation continues after it.
    type: int
    default: 600
'''
