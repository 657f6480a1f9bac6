/** The whole job by curl, with a sandbox's own ways to pay and to make blocks. */
import { type Html, html } from './html.ts';

export function sandboxWalkthrough(baseUrl: string): Html {
  return html`<p>On the pages: sign up, top up, and pay the address that you are shown by the two commands under 4; then deploy.</p>
<p>1. Fetch a CSRF value and keep the cookie beside it:</p>
<pre tabindex="0"><code>CSRF=$(curl -s -c jar ${baseUrl}/csrf.php | grep -oE '[0-9a-f]{64}')</code></pre>
<p>2. Make an account. The answer holds a recovery code, shown this once: keep it.</p>
<pre tabindex="0"><code>curl -b jar -c jar ${baseUrl}/auth-api.php -d _token=$CSRF -d action=signup \\
  -d email=you@example.org -d password='a long password' -d password_confirm='a long password'</code></pre>
<p>3. Ask for an address to pay to, and see where the money is:</p>
<pre tabindex="0"><code>curl -b jar ${baseUrl}/topup-api.php -d _token=$CSRF -d action=create -d amount=50 -d coin=LTC
curl -b jar "${baseUrl}/topup-status.php?ref=ORDER_REF"
curl -b jar ${baseUrl}/me.php</code></pre>
<p>4. Pay the address, and make blocks. Only a sandbox can do this:</p>
<pre tabindex="0"><code>curl ${baseUrl}/sandbox/payments --json '{"coin":"LTC","address":"ADDRESS","amount":"AMOUNT"}'
curl ${baseUrl}/sandbox/blocks --json '{"coin":"LTC","count":6}'</code></pre>
<p>5. Deploy a server. The answer names its page:</p>
<pre tabindex="0"><code>curl -b jar ${baseUrl}/deploy-api.php -d _token=$CSRF -d product=vps -d plan=s1 -d region=rek \\
  -d os=debian-12 -d billing=1 -d root_password='another long one'
curl -b jar ${baseUrl}/servers</code></pre>`;
}
