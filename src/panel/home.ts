import { page } from './bare-layout.ts';
import { html } from './html.ts';

/** The front page: what this is, and the main job by hand. */
export function homePage(data: { readonly baseUrl: string; readonly sandbox: boolean }): string {
  const { baseUrl, sandbox } = data;
  return page(
    'Servers on a rock in the sea',
    html`
<p>Skerry rents out virtual and dedicated servers. An account is an e-mail address and a password, nothing else
is asked. You top up a balance in cryptocurrency, and servers are paid from it, for 1, 3, 6 or 12 months.</p>
${
  sandbox &&
  html`<p><strong>This is a sandbox.</strong> Its coins, blocks and machines are simulated: pay with the
commands below.</p>`
}
<h2>Begin</h2>
<p>The form endpoints work today; pages to click come later. Fetch a CSRF value and keep the cookie beside it:</p>
<pre>CSRF=$(curl -s -c jar ${baseUrl}/csrf.php | grep -oE '[0-9a-f]{64}')</pre>
<p>Make an account. The answer holds a recovery code, shown this once: keep it.</p>
<pre>curl -b jar -c jar ${baseUrl}/auth-api.php -d _token=$CSRF -d action=signup \\
  -d email=you@example.org -d password='a long password' -d password_confirm='a long password'</pre>
<p>Ask for an address to pay to, and see where the money is:</p>
<pre>curl -b jar ${baseUrl}/topup-api.php -d _token=$CSRF -d action=create -d amount=50 -d coin=LTC
curl -b jar "${baseUrl}/topup-status.php?ref=ORDER_REF"
curl -b jar ${baseUrl}/me.php</pre>
${
  sandbox &&
  html`<p>In this sandbox, pay an address and make blocks:</p>
<pre>curl ${baseUrl}/sandbox/payments --json '{"coin":"LTC","address":"ADDRESS","amount":"AMOUNT"}'
curl ${baseUrl}/sandbox/blocks --json '{"coin":"LTC","count":6}'</pre>`
}
<p>Deploy a server, and see how far it is:</p>
<pre>curl -b jar ${baseUrl}/deploy-api.php -d _token=$CSRF -d product=vps -d plan=s1 -d region=rek \\
  -d os=debian-12 -d billing=1 -d root_password='another long one'
curl -b jar ${baseUrl}/servers</pre>
`,
  );
}
