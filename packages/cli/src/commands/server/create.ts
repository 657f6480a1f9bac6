import type { CreateServer, Server, Skerry } from '@skerry/sdk';
import { command } from '../../command.ts';
import { findImage } from '../../find.ts';
import { CYCLES } from '../../limits.ts';
import { given } from '../../lists.ts';
import { arg, flag, list, pairs, requiredText, text } from '../../options.ts';
import { usd } from '../../output/columns.ts';
import { making, ONCE } from '../../terminal/making.ts';
import { WAITS, waiting } from '../../terminal/waiting.ts';
import { SERVER_COLUMNS } from './columns.ts';
import { chosenKeys } from './keys.ts';
import { untilServer } from './until.ts';
import { readUserData, USER_DATA_FILE } from './user-data.ts';

export const create = command({
  name: 'server create',
  about: 'Order a server and wait until it runs',
  help:
    'The first cycle is charged to the balance at once; `skerry plan describe` says what each cycle costs.\n' +
    'A server that cannot be provisioned is refunded in full. What was ordered is printed even where the waiting ends\n' +
    'otherwise: by --timeout, by Ctrl-C, or because it could not be provisioned.',
  does: [
    ...(['servers.create', 'servers.get', 'audit_events.list'] as const),
    ...(['images.list', 'images.get', 'ssh_keys.list', 'ssh_keys.get'] as const),
  ],
  args: { name: arg('Letters a-z, digits and dashes; begins with a letter.') },
  options: {
    plan: requiredText('id', 'See `skerry plan list`.', { completes: 'plan' }),
    region: requiredText('code', 'See `skerry region list`.', { completes: 'region' }),
    image: requiredText('image', 'Id, debian-13, or debian for its newest.', { completes: 'image' }),
    sshKey: list('key', 'Name or id; the account’s own, if it has just one.', { completes: 'ssh-key' }),
    tag: list('tag', 'A free word.'),
    label: pairs('A pair of texts.'),
    userDataFile: USER_DATA_FILE,
    billingMonths: text('months', 'Paid in advance: 3, 6 and 12 are cheaper a month; 1 when left out.', {
      choices: CYCLES,
    }),
    noAutoRenew: flag('Suspend it when its cycle ends.'),
    ...ONCE,
    ...WAITS,
  },
  columns: SERVER_COLUMNS,
  example: 'skerry server create web-2 --plan s1 --region par --image debian-13 --ssh-key laptop --tag web',
  run: async (context, options) => {
    const { skerry, output } = context;
    const { name, plan, region, tag: tags, label: labels, billingMonths } = options;
    const user_data_b64 = await readUserData(options.userDataFile);
    const { id: image } = await findImage(skerry, options.image);
    const ssh_keys = await chosenKeys(skerry, options.sshKey);
    const body = {
      ...{ name, plan, region, image, ssh_keys },
      ...given({ tags, labels, user_data_b64 }),
      ...(billingMonths === undefined ? {} : { billing_months: Number(billingMonths) }),
      ...(options.noAutoRenew ? { auto_renew: false } : {}),
    } as CreateServer;
    const look = ['skerry', 'server', 'list', '--name', name];
    const begun = await making(context, { key: options.idempotencyKey, what: name, look }, (once) =>
      skerry.servers.create(body, once),
    );
    const show = (seen: Server) => output.show(seen, SERVER_COLUMNS);
    const goal = { isDone: runs, explain: () => whyNotMade(skerry, begun) };
    show(
      await waiting(context, options, name, begun, (wait) => untilServer(skerry, begun, goal, wait), show),
    );
  },
});

function runs(server: Server | null): boolean {
  return server?.status === 'running';
}

/** Whatever ends a server before its first run, what it cost is given back. */
async function whyNotMade(skerry: Skerry, { id, name, price_usd_cycle }: Server): Promise<string> {
  const filter = { resource: id, action: 'server.fail' } as const;
  const { data } = await skerry.auditEvents.list({ filter, page_size: 1 }).first();
  const refund = `the ${usd(price_usd_cycle)} US dollars that it cost were given back`;
  if (data.length === 0) return `${name} was destroyed before it ran; ${refund}`;
  return `${name} could not be provisioned; ${refund}. Try another region or plan, or try later`;
}
