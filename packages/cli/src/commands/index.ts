/** The table of all commands. The program, completion, the API reference, and the tests read it. */
import type { Command } from '../command.ts';
import { account, limits } from './account.ts';
import { ACTION_COMMANDS } from './action.ts';
import { ALERT_COMMANDS } from './alert.ts';
import { apply } from './apply.ts';
import { AUDIT_COMMANDS } from './audit.ts';
import { balance, ledger } from './billing.ts';
import { completionCommands } from './completion/completion.ts';
import { CONTEXT_COMMANDS } from './context.ts';
import { events } from './events.ts';
import { FIREWALL_GROUPS } from './firewall/groups.ts';
import { FIREWALL_MEMBERS } from './firewall/members.ts';
import { FIREWALL_RULES } from './firewall/rule.ts';
import { IMAGE_COMMANDS } from './image.ts';
import { exportAccount, mcp } from './integrations.ts';
import { LOGIN_COMMANDS } from './login.ts';
import { PLAN_COMMANDS } from './plan.ts';
import { quote } from './quote.ts';
import { REGION_COMMANDS } from './region.ts';
import { SERVER_BACKUPS } from './server/backups.ts';
import { openConsole } from './server/console.ts';
import { create } from './server/create.ts';
import { remove } from './server/delete.ts';
import { SERVER_ISO } from './server/iso.ts';
import { metrics } from './server/metrics.ts';
import { SERVER_POWER } from './server/power.ts';
import { SERVER_REINSTALL } from './server/reinstall.ts';
import { resize } from './server/resize.ts';
import { SERVER_READ } from './server/show.ts';
import { ssh } from './server/ssh.ts';
import { SERVER_UPDATE } from './server/update.ts';
import { SNAPSHOT_COMMANDS } from './snapshot.ts';
import { SSH_KEY_COMMANDS } from './ssh-key.ts';
import { TICKET_COMMANDS } from './ticket.ts';
import { TOKEN_COMMANDS } from './token.ts';
import { TOPUP_COMMANDS } from './topup/topup.ts';
import { VOLUME_COMMANDS } from './volume.ts';
import { WEBHOOK_COMMANDS } from './webhook.ts';
import { WEBHOOK_DELIVERIES } from './webhook-deliveries.ts';
import { WEBHOOK_SECRETS } from './webhook-secret.ts';

/** Descriptions and aliases of the command groups. */
export const GROUPS: Readonly<
  Record<string, { readonly about: string; readonly aliases?: readonly string[] }>
> = {
  image: { about: 'Manage images to install servers from', aliases: ['images'] },
  plan: { about: 'View plans and their prices', aliases: ['plans'] },
  region: { about: 'View regions', aliases: ['regions'] },
  server: { about: 'Manage servers', aliases: ['servers'] },
  'ssh-key': { about: 'Manage SSH keys that new servers get', aliases: ['ssh-keys'] },
  token: { about: 'Manage API tokens', aliases: ['tokens'] },
  volume: { about: 'Manage volumes', aliases: ['volumes'] },
  snapshot: { about: 'Manage snapshots of server disks', aliases: ['snapshots'] },
  firewall: { about: 'Manage firewall groups, their rules, and their servers', aliases: ['firewalls'] },
  rule: { about: 'Manage the rules of a firewall group', aliases: ['rules'] },
  webhook: { about: 'Manage webhooks and their deliveries', aliases: ['webhooks'] },
  alert: { about: 'Manage alerts on metrics of servers', aliases: ['alerts'] },
  ticket: { about: 'Ask the people who run the service', aliases: ['tickets'] },
  topup: { about: 'Top up the balance with cryptocurrency', aliases: ['topups'] },
  context: { about: 'Manage contexts: the accounts that you are signed in to', aliases: ['contexts'] },
  audit: { about: 'View changes of the last 90 days' },
  action: { about: 'View what takes time, and why it failed', aliases: ['actions'] },
};

export const COMMANDS: readonly Command[] = [
  ...LOGIN_COMMANDS,
  ...CONTEXT_COMMANDS,
  ...SERVER_READ,
  create,
  ...SERVER_UPDATE,
  remove,
  ...SERVER_POWER,
  resize,
  ...SERVER_ISO,
  ...SERVER_REINSTALL,
  ...SERVER_BACKUPS,
  openConsole,
  metrics,
  ssh,
  ...IMAGE_COMMANDS,
  ...PLAN_COMMANDS,
  ...REGION_COMMANDS,
  ...VOLUME_COMMANDS,
  ...SNAPSHOT_COMMANDS,
  ...FIREWALL_GROUPS,
  ...FIREWALL_MEMBERS,
  ...FIREWALL_RULES,
  ...SSH_KEY_COMMANDS,
  ...TOKEN_COMMANDS,
  ...WEBHOOK_COMMANDS,
  ...WEBHOOK_SECRETS,
  ...WEBHOOK_DELIVERIES,
  ...ALERT_COMMANDS,
  ...TICKET_COMMANDS,
  ...AUDIT_COMMANDS,
  ...ACTION_COMMANDS,
  events,
  ledger,
  quote,
  ...TOPUP_COMMANDS,
  balance,
  account,
  limits,
  apply,
  exportAccount,
  mcp,
  ...completionCommands(
    () => COMMANDS,
    () => GROUPS,
  ),
];
