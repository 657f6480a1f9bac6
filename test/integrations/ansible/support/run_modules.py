"""Runs modules in one process: reads a task as a line of JSON, and writes its result as one.

Starting Ansible takes seconds for each task. This is the part of it that runs a module.
"""

import importlib
import io
import json
import sys

from ansible.module_utils import basic
from ansible.module_utils.common import warnings


def run(task):
    options = dict(task['options'], _ansible_check_mode=task['check'], _ansible_diff=True)
    warnings._global_warnings.clear()
    basic._ANSIBLE_ARGS = json.dumps({'ANSIBLE_MODULE_ARGS': options}).encode('utf-8')
    name = 'ansible_collections.skerry.cloud.plugins.modules.%s' % task['module']
    module = importlib.import_module(name)
    stdout, sys.stdout = sys.stdout, io.StringIO()
    try:
        module.main()
    except SystemExit:
        return json.loads(sys.stdout.getvalue())
    finally:
        sys.stdout = stdout


for line in sys.stdin:
    print(json.dumps(run(json.loads(line))), flush=True)
