/** The table of all commands. The program, completion, the API reference, and the tests read it. */
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
  topup: { about: 'Top up the balance with cryptocurrency', aliases: ['topups'] },
  context: { about: 'Manage contexts: the accounts that you are signed in to', aliases: ['contexts'] },
  audit: { about: 'View changes of the last 90 days' },
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
