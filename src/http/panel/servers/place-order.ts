/** Places the order of the panel's form, with saved keys, a pasted key, or a password. */
import {
  createServer,
  createServerWithNewKey,
  createServerWithPassword,
} from '../../../domain/servers/deploy/create.ts';
import { prepareSshKey } from '../../../domain/ssh-keys/change.ts';
import { type ErrorItem, Failure, fail, InvalidRequest, invalidRequest } from '../../../kernel/fail.ts';
import { usd } from '../../../panel/parts/format.ts';
import { DRAFT_FIELD } from '../../../panel/servers/kept-orders.ts';
import { serverPagePath } from '../../../spec/paths.ts';
import { type Server, ServerBody } from '../../../spec/schemas/server.ts';
import { SshKeyBody } from '../../../spec/schemas/ssh-key.ts';
import { regionIn } from '../../admission/admission.ts';
import type { Call } from '../../admission/forms.ts';
import { type Form, field } from '../../form.ts';
import { createChecker } from '../../v1/validation.ts';
import {
  bodyReader,
  checkedIds,
  encodeUserData,
  isChecked,
  lines,
  number,
  pairs,
  text,
} from '../field-readers.ts';
import { customForm } from '../page-types.ts';

const FIELD_READERS = {
  name: text,
  plan: text,
  region: text,
  image: text,
  billing_months: number,
  tags: lines,
  labels: pairs,
  auto_renew: isChecked,
  start: (form: Form) => (form.has('stay_off') ? false : undefined),
  backups: (form: Form) => (form.has('backups') ? { every: 'day' } : undefined),
  firewall_groups: checkedIds,
  volumes: checkedIds,
  // A form without a total has shown no price, so it accepts none.
  max_price_usd: (form: Form) => number(form, 'max_price_usd') ?? 0,
  user_data_b64: encodeUserData,
};
const FIELD_NAMES = { user_data_b64: 'user_data', public_key: 'key_text' };

const { ssh_keys: _, ...withoutKeys } = ServerBody.properties;
const checkWithoutKeys = createChecker({
  ...ServerBody,
  properties: withoutKeys,
  required: ['name', 'plan', 'region', 'image'],
});
const checkKey = createChecker(SshKeyBody);
const readOrder = bodyReader(FIELD_READERS) as (form: Form) => Omit<ServerBody, 'ssh_keys'>;

export const deployForm = customForm<Server>({
  audit: 'server.create',
  rest: 'servers.create',
  regionOf: (form) => regionIn(readOrder(form)),
  fieldNames: FIELD_NAMES,
  hasOwnRemedy: true,
  run: async (call) => {
    try {
      return await placeOrder(call);
    } catch (error) {
      if (error instanceof Failure && error.code === 'price_changed') refuseUnseenPrice(error, call.form);
      throw error;
    }
  },
  done: (server) => ({ to: serverPagePath(server.id), notice: 'server_ordered' }),
});

/**
 * The choice between keys and password decides. A password that is typed with the choice of keys is used if
 * there is no key, and else refused: it is never ignored silently.
 */
async function placeOrder(call: Call): Promise<Server> {
  const { form } = call;
  const { service } = call.edge;
  const actor = call.customer();
  const order = readOrder(form);
  const problems = [...checkWithoutKeys(order)];
  const ids = checkedIds(form, 'ssh_keys') as string[];
  const isKeyless = ids.length === 0 && field(form, 'key_text').trim() === '';
  const password = field(form, 'root_password');
  const isPasswordChosen = field(form, 'login') === 'password';
  if (isPasswordChosen || (isKeyless && password !== '')) {
    if (problems.length > 0) invalidRequest(problems);
    return await createServerWithPassword(service, actor, seenBy(form, order), password);
  }
  if (password !== '') problems.push({ field: 'root_password', issue: 'not_allowed' });
  const key = readPastedKey(call, problems);
  if (isKeyless) problems.push({ field: 'ssh_keys', issue: 'min_items', min: 1 });
  if (problems.length > 0) invalidRequest(problems);
  const body = { ...seenBy(form, order), ssh_keys: ids };
  return key === null
    ? await createServer(service, actor, body)
    : await createServerWithNewKey(service, actor, body, key);
}

/** The order at exactly the price that its form showed. It ends the draft that the form was opened from. */
function seenBy(form: Form, { max_price_usd: shownUsd, ...order }: Omit<ServerBody, 'ssh_keys'>) {
  const draft = field(form, DRAFT_FIELD);
  return {
    ...order,
    ...(shownUsd === undefined ? {} : { shown_price_usd: shownUsd }),
    ...(draft === '' ? {} : { draft }),
  };
}

/** Reads the pasted key, and adds what is wrong with it to the problems of the order. */
function readPastedKey(call: Call, problems: ErrorItem[]): ReturnType<typeof prepareSshKey> | null {
  const { form } = call;
  const text = field(form, 'key_text').trim();
  if (text === '') return null;
  const name = field(form, 'key_name').trim() || field(form, 'name').trim() || 'key';
  const body = { name, public_key: text };
  const items = [...checkKey(body)];
  try {
    if (items.length === 0) return prepareSshKey(call.edge.service, call.customer(), body);
  } catch (error) {
    if (!(error instanceof InvalidRequest)) throw error;
    items.push(...error.items);
  }
  // The name of the server is a field of its own.
  problems.push(...items.map((item) => (item.field === 'name' ? { ...item, field: 'key_name' } : item)));
  return null;
}

function refuseUnseenPrice({ extras }: Failure, form: Form): never {
  const { price_usd: priceUsd } = extras;
  if (typeof priceUsd !== 'number') throw new Error('a changed price has no amount');
  const isLower = priceUsd < Number(field(form, 'max_price_usd'));
  fail(
    'price_changed',
    extras,
    `Your selection costs ${usd(priceUsd)}, ${isLower ? 'less' : 'more'} than the total that was shown. ` +
      'Nothing was charged. Check the new total, and choose “Deploy server” again to order.',
  );
}
