/** Opens a session of a customer. */
import { postSession } from '../../support/answers.ts';
import { PASSWORD, SessionClient } from '../../support/session-client.ts';
import type { OperationStep } from '../history.ts';
import type { ModelCustomer } from '../model/model.ts';
import type { World } from '../world/world.ts';

/** A sign-up whose answer was lost is followed by a sign-in. Returns whether there is a session. */
export async function openSession(
  {
    customer,
    world,
    step,
  }: { readonly customer: ModelCustomer; readonly world: World; readonly step: OperationStep },
  action: 'signup' | 'signin',
): Promise<boolean> {
  const { email } = customer;
  const send = (fields: Readonly<Record<string, string>>) => async (url: string) => {
    const session = SessionClient.forUrl(url);
    const answer = await postSession(session, { email, ...fields });
    if (answer.body.ok === true) customer.cookie = session.cookie ?? '';
    return answer;
  };
  const confirm = action === 'signup' ? { password_confirm: PASSWORD } : {};
  const opened = await world.asker.ask(`${action} of ${email}`, step.via, send({ action, ...confirm }));
  if (opened?.body.ok !== true)
    await world.asker.ask(`signin of ${email}`, step.via, send({ action: 'signin' }));
  // The token for forms belongs to the new session.
  const token = await world.asker.ask('the token for forms', step.via, async (url) => {
    const again = Object.assign(SessionClient.forUrl(url), { cookie: customer.cookie });
    return await again.get('/csrf.php');
  });
  customer.csrf = String(token?.body.csrf ?? '');
  return customer.cookie !== '';
}
