import type { CreateServer, Server, Skerry } from '@skerry/sdk';
import { command } from '../../command.ts';
import { findImage } from '../../find.ts';
import { CYCLES } from '../../limits.ts';
import { omitUndefined } from '../../lists.ts';
import { arg, flag, list, pairs, requiredText, text } from '../../options.ts';
import { formatUsd } from '../../output/columns.ts';
import { createOnce, IDEMPOTENCY_OPTIONS } from '../../terminal/create-once.ts';
import { WAIT_OPTIONS, waitWithProgress } from '../../terminal/wait.ts';
import { SERVER_COLUMNS } from './columns.ts';
import { resolveKeysOrDefault } from './ssh-keys.ts';
import { readUserData, USER_DATA_FILE } from './user-data.ts';
import { waitForServer } from './wait-for-server.ts';

export const create = command({
  name: 'server create',
  about: 'Order a server and wait until it runs',
  help:
    'The first cycle is charged to the balance at once; `skerry plan describe` says what each cycle costs.\n' +
    'A server that cannot be provisioned is refunded in full. What was ordered is printed even where the waiting ends\n' +
    'otherwise: by --timeout, by Ctrl-C, or because it could not be provisioned.',
  operations: [
    ...(['servers.create', 'servers.get', 'audit_events.list'] as const),
    ...(['images.list', 'images.get', 'ssh_keys.list', 'ssh_keys.get'] as const),
  ],
  args: { name: arg('Letters a-z, digits and dashes; begins with a letter.') },
  options: {
    plan: requiredText('id', 'See `skerry plan list`.', { completionKind: 'plan' }),
    region: requiredText('code', 'See `skerry region list`.', { completionKind: 'region' }),
    image: requiredText('image', 'Id, debian-13, or debian for its newest.', { completionKind: 'image' }),
    sshKey: list('key', 'Name or id; the account’s own, if it has just one.', { completionKind: 'ssh-key' }),
    tag: list('tag', 'A free word.'),
    label: pairs('A pair of texts.'),
    userDataFile: USER_DATA_FILE,
    billingMonths: text('months', 'Paid in advance: 3, 6 and 12 are cheaper a month; 1 when left out.', {
      choices: CYCLES,
    }),
    noAutoRenew: flag('Suspend it when its cycle ends.'),
    ...IDEMPOTENCY_OPTIONS,
    ...WAIT_OPTIONS,
  },
  columns: SERVER_COLUMNS,
  example: 'skerry server create web-2 --plan s1 --region par --image debian-13 --ssh-key laptop --tag web',
  run: async (context, options) => {
    const { skerry, output } = context;
    const { name, plan, region, tag: tags, label: labels, billingMonths } = options;
    const user_data_b64 = await readUserData(options.userDataFile);
    const { id: image } = await findImage(skerry, options.image);
    const ssh_keys = await resolveKeysOrDefault(skerry, options.sshKey);
    const body = {
      ...{ name, plan, region, image, ssh_keys },
      ...omitUndefined({ tags, labels, user_data_b64 }),
      ...(billingMonths === undefined ? {} : { billing_months: Number(billingMonths) }),
      ...(options.noAutoRenew ? { auto_renew: false } : {}),
    } as CreateServer;
    const lookupCommand = ['skerry', 'server', 'list', '--name', name];
    const created = await createOnce(
      context,
      { key: options.idempotencyKey, subject: name, lookupCommand },
      (once) => skerry.servers.create(body, once),
    );
    const show = (seen: Server) => output.show(seen, SERVER_COLUMNS);
    const goal = { isDone: isRunning, explain: () => explainFailure(skerry, created) };
    show(
      await waitWithProgress(
        context,
        options,
        name,
        created,
        (wait) => waitForServer(skerry, created, goal, wait),
        show,
      ),
    );
  },
});

function isRunning(server: Server | null): boolean {
  return server?.status === 'running';
}

/** Whatever ends a server before its first run, what it cost is given back. */
async function explainFailure(skerry: Skerry, { id, name, price_usd_cycle }: Server): Promise<string> {
  const filter = { resource: id, action: 'server.fail' } as const;
  const { data } = await skerry.auditEvents.list({ filter, page_size: 1 }).first();
  const refund = `the ${formatUsd(price_usd_cycle)} US dollars that it cost were given back`;
  if (data.length === 0) return `${name} was destroyed before it ran; ${refund}`;
  return `${name} could not be provisioned; ${refund}. Try another region or plan, or try later`;
}
