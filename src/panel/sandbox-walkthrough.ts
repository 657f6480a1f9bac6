/** A walkthrough with curl, including the sandbox's own endpoints to pay and to mine blocks. */
import { type Html, html } from './html.ts';

export function sandboxWalkthrough(baseUrl: string): Html {
  return html`<p>In the panel: sign up, top up, pay to the address shown with the two commands in step 4,
then deploy.</p>
<p>1. Fetch a CSRF token and store its cookie:</p>
<pre tabindex="0"><code>CSRF=$(curl -s -c jar ${baseUrl}/csrf.php | grep -oE '[0-9a-f]{64}')</code></pre>
<p>2. Create an account. The response contains a recovery code that is shown only once. Save it.</p>
<pre tabindex="0"><code>curl -b jar -c jar ${baseUrl}/auth-api.php -d _token=$CSRF -d action=signup \\
  -d email=you@example.org -d password='a long password' -d password_confirm='a long password'</code></pre>
<p>3. Request a payment address, and check your top-up and your balance:</p>
<pre tabindex="0"><code>curl -b jar ${baseUrl}/topup-api.php -d _token=$CSRF -d action=create \\
  -d amount=50 -d coin=LTC
curl -b jar "${baseUrl}/topup-status.php?ref=ORDER_REF"
curl -b jar ${baseUrl}/me.php</code></pre>
<p>4. Pay to the address and mine blocks. Only a sandbox supports this:</p>
<pre tabindex="0"><code>curl ${baseUrl}/sandbox/payments \\
  --json '{"coin":"LTC","address":"ADDRESS","amount":"AMOUNT"}'
curl ${baseUrl}/sandbox/blocks --json '{"coin":"LTC","count":6}'</code></pre>
<p>5. Deploy a server. The response contains a link to its page:</p>
<pre tabindex="0"><code>curl -b jar ${baseUrl}/deploy-api.php -d _token=$CSRF -d product=vps -d plan=s1 \\
  -d region=rek -d os=debian-12 -d billing=1 -d root_password='another long one'
curl -b jar ${baseUrl}/servers</code></pre>`;
}
