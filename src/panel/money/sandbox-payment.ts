/** Paying a top-up with simulated coins: buttons, and the commands that do the same. Only in a sandbox. */
import { section } from '../parts/components.ts';
import { form } from '../parts/form.ts';
import { type Html, html } from '../parts/html.ts';
import type { PaymentData } from './payment-data.ts';

export function sandboxSection(data: PaymentData, url: string): Html {
  const { topup, forms, status, missing } = data;
  const isPayable = status === 'waiting' || missing?.amount;
  const left = topup.required_confirmations - topup.confirmations;
  const pay = JSON.stringify({
    coin: topup.coin,
    address: topup.deposit_address,
    amount: topup.deposit_amount,
  });
  const mine = JSON.stringify({ coin: topup.coin, count: topup.required_confirmations });
  const all =
    left > 1 && html` <button class="plain" name="count" value="${left}">Mine ${left} blocks</button>`;
  return section(
    'Sandbox: pay without real coins',
    html`<p>The blockchains are simulated. Pay this top-up, and mine the blocks that confirm it.</p>
<div class="row">${
      isPayable &&
      form(
        forms,
        { name: 'pay', class: 'inline' },
        html`<button>Pay ${status === 'waiting' ? 'this top-up' : 'the rest'}</button>`,
      )
    }
${form(
  forms,
  { name: 'mine', class: 'inline' },
  html`<button class="plain" name="count" value="1">Mine a block</button>${all}`,
)}</div>
<details><summary>The same as commands</summary>
<pre tabindex="0">curl ${url}/sandbox/payments --json '${pay}'
curl ${url}/sandbox/blocks --json '${mine}'</pre></details>`,
    'sandbox',
  );
}
