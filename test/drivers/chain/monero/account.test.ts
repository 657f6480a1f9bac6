import assert from 'node:assert/strict';
import { it } from 'node:test';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { base58xmr } from '@scure/base';
import { InvalidKeyError } from '../../../../src/drivers/chain/account-key.ts';
import { MoneroAccount } from '../../../../src/drivers/chain/monero/account.ts';

/** Three wallets created by monero-wallet-rpc 0.18.0.0, with its subaddresses. */
const WALLETS = [
  {
    network: 'main',
    address:
      '43yPCQDYosU8o1pYwkCSoQL1BrQo3XmutNCooxSPJ8sad3EqLSBVszifYneCM5K73wPTzYeTKR5pG1WLupQZKLnzB2BiLNZ',
    viewKey: '76d8be8ab236adf0b00f749549bae061ddfa268d8d5987441b89fe0257b0e801',
    subaddresses: [
      [1, '85SL5Czv9wGLyZRP34aFdaWD3waRToxA9insM6yG7xMADqMXw9otjD21NyoeTVz1RPPmVGmZD54D8hcRUUCnknGm3aWkmpo'],
      [2, '88ZyDhpbbDRYtRmD3ogJQoFKWvy9pypC7ipPZM11gfSmGpqzzfebbjHF9J6P7PMUJAWT1ck9PFEWNPskK7E1ZNZP7S3wbNv'],
      [64, '87NGwR9kcrSQmQ32iYmsFLZbxXVQciezQ1JX3ZydB8J4jkti4eryrSoE22tfKb9uZvhJBy81QTLDpLByqQmrzc7SUbMWZWh'],
    ],
  },
  {
    network: 'stagenet',
    address:
      '5AjJtpuL2pY5fsNyPAAvvW3weEZ9GARuTgaFKNCHNjhXHrdpvK9ywUhEfpHsRHXvW6YktPf7qqYNrLammW4wC8gCP1EKvHq',
    viewKey: 'ab8ac7df762c9a2b966b3153db2a4ea7844d0cbf7a415f14af5161944ba14300',
    subaddresses: [
      [1, '75HBLQh4QPBcTLsvDwh3K1LfYGEMZuGjFdV4QBcyPQBZFw4cydArRDRfYAFGiQQbWAQ1tTEbUrc72AyMMGhLmxbgJ958H9T'],
      [64, '77Cb4hEc67WaPh8BYA2Ng7FiZ5ZkGYu3NRmnTbehmegaS6qi9B54uNAigK6pLNtfWzQ9GRbakzfb7Rj4hoMiXeQXHaAxHSc'],
    ],
  },
  {
    network: 'testnet',
    address:
      '9zMoGUL7c4RiM27R3MYT3gDC6n6NVKDaUXWb1CsHzUaeXd8EMPWLirZNzy4x4PK48qCht1ZwXEKt7MYVE31Xem1CRkUqtML',
    viewKey: '015a1e4dfec4d4155ddb066fb54487074c76eda2e1fa3f4d28b29c04b8fba60d',
    subaddresses: [
      [1, 'BbQ5VAfRuax8z1pzoxjGp2MAwnqwKPWodG2KfARqmaAyMVYeyq8w2yGBQrjgxFxFHhaF3LRrqeaZm4w8c34WF7P5Ns5PSSX'],
      [64, 'BdFEm5c1Wi1T3PwPCksDFnET2GuJwKyG96dbK4Nz4yt9BKU2G3ZA3vQdrKz6NUwyRo4hwtBoS3ttZbyYxTx7pba74zSuvP3'],
    ],
  },
] as const;

/** Changes the first byte or the body of an address and corrects the checksum. */
function forged(address: string, change: (bytes: Uint8Array) => Uint8Array): string {
  const body = change(base58xmr.decode(address).slice(0, -4));
  return base58xmr.encode(Uint8Array.of(...body, ...keccak_256(body).subarray(0, 4)));
}

for (const { network, address, viewKey, subaddresses } of WALLETS) {
  it(`subaddresses of ${network} match those that the wallet derives`, () => {
    const account = MoneroAccount.parse(address);
    assert.equal(account.network, network);
    assert.ok(account.hasViewKey(viewKey));
    for (const [minor, subaddress] of subaddresses) {
      assert.equal(account.subaddress(viewKey, minor), subaddress);
    }
  });
}

it('an address that is not a primary address is rejected with the reason', () => {
  const [{ address, subaddresses }] = WALLETS;
  const refused = (text: string, why: RegExp) =>
    assert.throws(
      () => MoneroAccount.parse(text),
      (error) => error instanceof InvalidKeyError && why.test(error.message) && !error.message.includes(text),
    );
  refused(subaddresses[0][1], /this is a subaddress/);
  refused(
    forged(address, (body) => Uint8Array.of(19, ...body.subarray(1), ...new Uint8Array(8))),
    /integrated/,
  );
  refused(`${address.slice(0, -1)}${address.endsWith('1') ? '2' : '1'}`, /has a typo/);
  refused('not an address', /has a typo/);
  refused(
    forged(address, (body) => body.fill(99, 0, 1)),
    /not a Monero primary address/,
  );
  refused(
    forged(address, (body) => body.fill(0xff, 1, 33)),
    /not a point on the curve/,
  );
});

it('a view key of another wallet or an invalid view key is detected', () => {
  const [first, second] = WALLETS;
  const account = MoneroAccount.parse(` ${first.address}\n`);
  for (const key of [second.viewKey, '', 'ff'.repeat(32), '00'.repeat(32)]) {
    assert.equal(account.hasViewKey(key), false);
  }
});
