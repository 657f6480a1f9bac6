/** All commands: the one table that the program, its completion, the API's reference and the tests read. */
import type { Command } from '../command.ts';
import { APPLY_COMMANDS } from './apply/apply.ts';
import { AUDIT_COMMANDS } from './audit/audit.ts';
import { BALANCE_COMMANDS } from './balance/balance.ts';
import { completionCommands } from './completion/completion.ts';
import { CONTEXT_COMMANDS } from './context/context.ts';
import { EVENTS_COMMANDS } from './events/events.ts';
import { FIREWALL_READ } from './firewall/read.ts';
import { FIREWALL_RULES } from './firewall/rule.ts';
import { FIREWALL_WRITE } from './firewall/write.ts';
import { IMAGE_COMMANDS } from './image/image.ts';
import { LEDGER_COMMANDS } from './ledger/ledger.ts';
import { LOGIN_COMMANDS } from './login/login.ts';
import { PLAN_COMMANDS } from './plan/plan.ts';
import { QUOTE_COMMANDS } from './quote/quote.ts';
import { REGION_COMMANDS } from './region/region.ts';
import { SERVER_COMMANDS } from './server/server.ts';
import { SNAPSHOT_COMMANDS } from './snapshot/snapshot.ts';
import { SSH_KEY_COMMANDS } from './ssh-key/ssh-key.ts';
import { TOKEN_COMMANDS } from './token/token.ts';
import { TOPUP_COMMANDS } from './topup/topup.ts';
import { VOLUME_READ } from './volume/read.ts';
import { VOLUME_WRITE } from './volume/write.ts';
import { WEBHOOK_DELIVERIES } from './webhook/deliveries.ts';
import { WEBHOOK_COMMANDS } from './webhook/webhook.ts';

/** What groups are called beside their name, and what they are about. */
export const GROUPS: Readonly<
  Record<string, { readonly about: string; readonly aliases?: readonly string[] }>
> = {
  image: { about: 'Images: what servers are installed from', aliases: ['images'] },
  plan: { about: 'Plans: what can be ordered, and what it costs', aliases: ['plans'] },
  region: { about: 'Regions: where servers can be', aliases: ['regions'] },
  server: { about: 'Servers: order, look, switch, rebuild, destroy', aliases: ['servers'] },
  'ssh-key': { about: 'SSH keys that are put onto servers at install', aliases: ['ssh-keys'] },
  token: { about: 'API tokens: who may do what, and until when', aliases: ['tokens'] },
  volume: { about: 'Volumes: disks that outlive servers', aliases: ['volumes'] },
  snapshot: { about: "Snapshots of servers' disks", aliases: ['snapshots'] },
  firewall: { about: 'Firewall groups, their rules and their servers', aliases: ['firewalls'] },
  rule: { about: 'Rules of a firewall group', aliases: ['rules'] },
  webhook: { about: 'Webhooks: events sent to a URL', aliases: ['webhooks'] },
  topup: { about: 'Top-ups: pay to the balance in a coin', aliases: ['topups'] },
  context: { about: 'Accounts that you signed in to', aliases: ['contexts'] },
  audit: { about: 'Who changed what in the last 90 days' },
};

export const COMMANDS: readonly Command[] = [
  ...LOGIN_COMMANDS,
  ...CONTEXT_COMMANDS,
  ...SERVER_COMMANDS,
  ...IMAGE_COMMANDS,
  ...PLAN_COMMANDS,
  ...REGION_COMMANDS,
  ...VOLUME_READ,
  ...VOLUME_WRITE,
  ...SNAPSHOT_COMMANDS,
  ...FIREWALL_READ,
  ...FIREWALL_WRITE,
  ...FIREWALL_RULES,
  ...SSH_KEY_COMMANDS,
  ...TOKEN_COMMANDS,
  ...WEBHOOK_COMMANDS,
  ...WEBHOOK_DELIVERIES,
  ...AUDIT_COMMANDS,
  ...EVENTS_COMMANDS,
  ...LEDGER_COMMANDS,
  ...QUOTE_COMMANDS,
  ...TOPUP_COMMANDS,
  ...BALANCE_COMMANDS,
  ...APPLY_COMMANDS,
  ...completionCommands(
    () => COMMANDS,
    () => GROUPS,
  ),
];
