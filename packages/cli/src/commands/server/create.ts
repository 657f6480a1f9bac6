import type { CreateServer, Server, Skerry } from '@skerry/sdk';
import { command } from '../../command.ts';
import {
  FIND_FIREWALL_GROUP,
  FIND_IMAGE,
  FIND_SSH_KEY,
  FIND_VOLUME,
  findFirewallGroup,
  findImage,
  findVolume,
} from '../../find.ts';
import { CYCLES } from '../../limits.ts';
import { omitUndefined } from '../../lists.ts';
import { arg, decimal, flag, listOf, pairs, requiredText, text } from '../../options.ts';
import { createOnce, IDEMPOTENCY_OPTIONS } from '../../terminal/create-once.ts';
import { WAIT_OPTIONS } from '../../terminal/wait.ts';
import { WAIT_OPERATIONS } from '../../terminal/wait-for-action.ts';
import { DELETE_PROTECTION, protectionField, REBUILD_PROTECTION } from '../protection.ts';
import { readUserData, resolveKeysOrDefault, USER_DATA_FILE } from './install.ts';
import { SERVER_COLUMNS } from './show.ts';
import { waitForServer } from './wait-for-server.ts';

export const create = command({
  name: 'server create',
  about: 'Create a server and wait until it is running',
  help:
    'The first billing cycle is charged immediately; see its price with `skerry quote`. If the\n' +
    'server cannot be provisioned, you get a full refund. The server is printed even if the wait ends\n' +
    'early: by --timeout, by Ctrl-C, or because provisioning failed.',
  operations: [
    'servers.create',
    'servers.get',
    ...WAIT_OPERATIONS,
    ...FIND_IMAGE,
    ...FIND_SSH_KEY,
    ...FIND_FIREWALL_GROUP,
    ...FIND_VOLUME,
  ],
  args: { name: arg('Name: letters a-z, digits, and dashes; starts with a letter') },
  options: {
    plan: requiredText('id', 'ID of the plan; see `skerry plan list`', { completionKind: 'plan' }),
    region: requiredText('code', 'Region; see `skerry region list`', { completionKind: 'region' }),
    image: requiredText('image', 'ID or name, family for the newest version, or ID of a snapshot', {
      completionKind: 'image',
    }),
    sshKey: listOf('key', 'Name or ID (default: the key of the account if there is only one)', {
      completionKind: 'ssh-key',
    }),
    firewallGroup: listOf('group', 'Name or ID of a firewall group that filters from the start', {
      completionKind: 'firewall-group',
    }),
    volume: listOf('volume', 'Name or ID of a volume to attach', { completionKind: 'volume' }),
    tag: listOf('tag', 'Tag'),
    label: pairs('Label'),
    userDataFile: USER_DATA_FILE,
    billingMonths: text('months', 'Months paid in advance; longer cycles cost less per month (default: 1)', {
      choices: CYCLES,
    }),
    deleteProtection: DELETE_PROTECTION,
    rebuildProtection: REBUILD_PROTECTION,
    maxPrice: decimal('usd', 'Charge nothing if the first cycle costs more, in US dollars', { min: 0 }),
    backups: flag('Back up the server every day; `skerry server set-backups` changes the schedule'),
    noStart: flag('Create the server without starting it; its first start sets it up'),
    noAutoRenew: flag('Suspend the server at the end of the cycle instead of renewing it'),
    ...IDEMPOTENCY_OPTIONS,
    ...WAIT_OPTIONS,
  },
  columns: SERVER_COLUMNS,
  example: 'skerry server create web-2 --plan s1 --region par --image debian-13 --ssh-key laptop --tag web',
  run: async (context, options) => {
    const { skerry, output } = context;
    const { name, plan, region, tag: tags, label: labels, billingMonths, maxPrice: max_price_usd } = options;
    const user_data_b64 = await readUserData(options.userDataFile);
    const image = await findSource(skerry, options.image);
    const ssh_keys = await resolveKeysOrDefault(skerry, options.sshKey);
    const groups = options.firewallGroup?.map((group) => findFirewallGroup(skerry, group)) ?? [];
    const firewall_groups = (await Promise.all(groups)).map(({ id }) => id);
    const volumes = await Promise.all((options.volume ?? []).map((each) => findVolume(skerry, each)));
    const body = {
      name,
      plan,
      region,
      image,
      ssh_keys,
      ...omitUndefined({ tags, labels, user_data_b64, max_price_usd }),
      ...protectionField(options),
      ...(firewall_groups.length > 0 ? { firewall_groups } : {}),
      ...(volumes.length > 0 ? { volumes: volumes.map(({ id }) => id) } : {}),
      ...(billingMonths === undefined ? {} : { billing_months: Number(billingMonths) }),
      ...(options.noAutoRenew ? { auto_renew: false } : {}),
      ...(options.backups ? { backups: { every: 'day' } } : {}),
      ...(options.noStart ? { start: false } : {}),
    } as CreateServer;
    const lookupCommand = ['skerry', 'server', 'list', '--name', name];
    const created = await createOnce(
      context,
      { key: options.idempotencyKey, subject: name, lookupCommand },
      (once) => skerry.servers.create(body, once),
    );
    const show = (seen: Server) => output.show(seen, SERVER_COLUMNS);
    await waitForServer(context, options, created, 'installed', show);
  },
});

async function findSource(skerry: Skerry, text: string): Promise<string> {
  return text.startsWith('snap_') ? text : (await findImage(skerry, text)).id;
}
