/** The guides and the files of deploy/ give each service of a machine a port of its own. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTree } from '../support/project-files.ts';

const TEXTS = [...readTree(['docs/operators', 'deploy'], /./).values()];
const LOOPBACK = String.raw`\b127\.0\.0\.1:(\d+)`;

/** Where the texts name the port of a service: in a setting of ours, or in the file of another program. */
const SERVICES: Readonly<Record<string, readonly string[]>> = {
  'the service': [setting('SKERRY_PORT'), `SKERRY_UPSTREAMS:${LOOPBACK}`, `ready on http://${LOOPBACK}`],
  'the console': [setting('SKERRY_ADMIN_PORT'), `Console: http://${LOOPBACK}`, `targets: \\["${LOOPBACK}`],
  'the onion port': [setting('SKERRY_ONION_PORT'), `HiddenServicePort 80 ${LOOPBACK}`],
  'the port for mail': [setting('SKERRY_LMTP_PORT'), `lmtp:inet:${LOOPBACK}`],
  'filters of mail': [`smtpd_milters = inet:${LOOPBACK}, inet:${LOOPBACK}`],
  PowerDNS: [`SKERRY_DNS_URL.*?${LOOPBACK}`, String.raw`webserver-port=(\d+)`],
  PostgreSQL: [`DATABASE_URL=postgres:.*?${LOOPBACK}/`, String.raw`listen_port = (\d+)`],
  HAProxy: [`bind ${LOOPBACK}`],
  Bitcoin: [`SKERRY_BTC_URL.*?${LOOPBACK}`],
  Litecoin: [`SKERRY_LTC_URL.*?${LOOPBACK}`],
  Monero: [`SKERRY_XMR_\\w+_URL.*?${LOOPBACK}`, `--daemon-address[= ]${LOOPBACK}`],
  Ethereum: [`SKERRY_ETH_URL.*?${LOOPBACK}`, `--execution-endpoint http://${LOOPBACK}`],
  Tron: [`SKERRY_TRON_URL.*?${LOOPBACK}`, String.raw`node\.http\.fullNodePort = (\d+)`],
  Solana: [`SKERRY_SOL_URL.*?${LOOPBACK}`],
};

/** `SKERRY_PORT=8080`, `SKERRY_PORT: "8080"`, or its default in the table of settings. */
function setting(name: string): string {
  return `\\b${name}(?:=|: "|\` \\| \`)(\\d+)`;
}

function portsIn(patterns: readonly string[]): ReadonlySet<string> {
  const matches = patterns.flatMap((pattern) =>
    TEXTS.flatMap((text) => [...text.matchAll(new RegExp(pattern, 'g'))]),
  );
  return new Set(matches.flatMap(([, ...ports]) => ports));
}

const PORTS = Object.entries(SERVICES).map(([name, patterns]) => ({ name, ports: portsIn(patterns) }));

test('no two services of the guides use the same port of one machine', () => {
  for (const { name, ports } of PORTS) {
    assert.ok(ports.size > 0, `the guides name no port of ${name}`);
    const others = PORTS.filter(
      (other) => other.name !== name && [...other.ports].some((port) => ports.has(port)),
    );
    assert.deepEqual(others, [], name);
  }
});

test('every port of this machine that the guides name is one of a known service', () => {
  const known = new Set(PORTS.flatMap(({ ports }) => [...ports]));
  assert.deepEqual(
    [...portsIn([LOOPBACK])].filter((port) => !known.has(port)),
    [],
  );
});
