/** Compares the quotas in the API guide with the code. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IMAGE_UPLOAD_ROUTES } from '../../src/http/v1/routes/images.ts';
import { LIMITS, QUOTAS } from '../../src/spec/limits.ts';
import { readGuide } from './docs-content.ts';

/** Quotas that share a row with another one. */
const PAIRED = 5;

test('the API guide lists the same quotas as the code', () => {
  const text = readGuide('customers/api');
  const rows = [
    `| Servers | ${QUOTAS.servers} |`,
    `| Volumes | ${QUOTAS.volumes}, with ${QUOTAS.volumesDiskGb / 1024} TiB on disk in total |`,
    `| Snapshots | ${QUOTAS.snapshotsPerServer} per server, ${QUOTAS.snapshots} in total |`,
    `| Custom images | ${QUOTAS.customImages}, with ${QUOTAS.customImagesGb} GiB in total |`,
    `| Firewall groups | ${QUOTAS.firewallGroups}, with ${QUOTAS.rulesPerGroup} rules each |`,
    `| SSH keys | ${QUOTAS.sshKeys} |`,
    `| API tokens | ${QUOTAS.tokens} |`,
    `| Webhooks | ${QUOTAS.webhooks} |`,
    `| Alerts | ${QUOTAS.alerts} |`,
    `| Open top-ups | ${QUOTAS.openTopups} |`,
    `| Unpaid top-ups in 24 hours | ${QUOTAS.unpaidTopupsPerDay}, ` +
      `of which ${QUOTAS.unpaidPoolTopupsPerDay} in SOL |`,
    `| Tags per server | ${QUOTAS.tagsPerServer} |`,
    `| Reverse DNS names per server | ${QUOTAS.rdnsPerServer} in its IPv6 network |`,
  ];
  assert.deepEqual(
    rows.filter((row) => !text.includes(row)),
    [],
  );
  assert.equal(rows.length, Object.keys(QUOTAS).length - PAIRED, 'a quota is missing in the guide');
});

test('the limit of uploads at a time is in the API guide and the API reference', () => {
  const limit = `An account can have ${LIMITS.imageUploadsConcurrent}`;
  assert.ok(readGuide('customers/api').includes(`${limit} image uploads in progress.`));
  const [upload] = IMAGE_UPLOAD_ROUTES;
  assert.ok(upload?.description?.includes(`${limit} uploads in progress;`));
});
