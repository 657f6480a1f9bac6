/** Commands for other tools: assistants, and programs that manage infrastructure. */
import { command } from '../command.ts';
import { flag, requiredText } from '../options.ts';

export const mcp = command({
  name: 'mcp',
  about: 'Serve the API as tools for an assistant, over the Model Context Protocol',
  help: `A client such as an editor or a chat program starts this command and talks to it over stdin and
stdout. It offers a tool for each operation that the token allows. A call that deletes, erases, or charges
something asks first: with a form of the client, or else by a code that a second call must repeat.
Prices are quoted, and nothing above the quoted price is charged. Passwords, signing secrets, and
console URLs are written to files in the configuration folder, and not to the results.`,
  operations: ['account.get'],
  options: { readOnly: flag('Offer only tools that change nothing') },
  example: 'skerry mcp --read-only < /dev/null',
  // Loaded on demand: no other command needs the protocol.
  run: async (context, options) => (await import('../mcp/server.ts')).serve(context, options),
});

const FORMATS = ['hcl', 'ansible', 'pulumi'] as const;

export const exportAccount = command({
  name: 'export',
  about: 'Write the account as configuration: HCL, an Ansible playbook, or a Pulumi program',
  help: `Prints servers, volumes, SSH keys, firewall groups, and alerts with their rules, labels, reverse DNS,
and protection. The playbook uses the collection skerry.cloud and changes nothing in this account. The Pulumi
program imports the resources. HCL is for reading and as a starting point: no tool of ours reads it. The
output contains no secrets, and neither user data nor snapshots.`,
  operations: [
    'servers.list',
    'volumes.list',
    'firewall_groups.list',
    'ssh_keys.list',
    'ssh_keys.get',
    'alerts.list',
  ],
  options: { format: requiredText('format', 'Format of the configuration', { choices: FORMATS }) },
  example: 'skerry export --format ansible > account.yml',
  run: async (context, { format }) =>
    (await import('../export/export.ts')).exportAccount(context, format as (typeof FORMATS)[number]),
});
