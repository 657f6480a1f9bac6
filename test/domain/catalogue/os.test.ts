import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedSandbox } from '../../../src/domain/catalogue/load.ts';
import { findImageForOs } from '../../../src/domain/catalogue/offers.ts';
import { formatId, newId } from '../../../src/kernel/ids.ts';
import { listOfficialImages } from '../../../src/store/catalogue/catalogue.ts';
import { type DomainFixture, openDomainFixture } from '../fixture.ts';

let fixture: DomainFixture;
before(async () => {
  fixture = await openDomainFixture();
  await seedSandbox(fixture.service, fixture.register);
});
after(() => fixture.close());

async function found(os: string): Promise<string | undefined> {
  const image = await findImageForOs(fixture.db, os);
  return image && `${image.family} ${image.version}`;
}

for (const [os, image] of [
  ['debian-12', 'debian 12'],
  ['debian12', 'debian 12'],
  ['Debian-12', 'debian 12'],
  ['debian', 'debian 13'],
  ['DEBIAN', 'debian 13'],
  ['ubuntu', 'ubuntu 24.04'],
  ['ubuntu-22.04', 'ubuntu 22.04'],
  ['ubuntu22.04', 'ubuntu 22.04'],
  ['ubuntu2204', 'ubuntu 22.04'],
  ['ubuntu-2204', 'ubuntu 22.04'],
  ['freebsd', 'freebsd 14.3'],
] as const) {
  test(`the os ${os} resolves to ${image}`, async () => assert.equal(await found(os), image));
}

test('an image is found by its id in any case', async () => {
  const image = (await listOfficialImages(fixture.db)).find((each) => each.family === 'alpine');
  assert.ok(image);
  const id = formatId('image', image.id);
  assert.equal(await found(id), 'alpine 3.22');
  assert.equal(await found(id.toUpperCase()), 'alpine 3.22');
});

for (const os of [
  '',
  'debian-11',
  'debian11',
  'debian-9',
  'debian-',
  '12',
  'windows',
  '%',
  'debian 12',
  'img_x',
]) {
  test(`the os "${os}" does not resolve to an image`, async () => assert.equal(await found(os), undefined));
}

test('unknown, deprecated, and uploaded images are not found by id', async () => {
  assert.equal(await found(formatId('image', newId(new Date()))), undefined);
  const deprecated = (await listOfficialImages(fixture.db)).find((image) => image.deprecated_at !== null);
  assert.equal(await found(formatId('image', deprecated?.id ?? '')), undefined);
  const uploaded = newId(new Date());
  await fixture.db.run(
    `insert into images (id, type, family, version, arch, size_gb, cloud_init, released_at)
     values ($1, 'custom', 'custom', '1', '{amd64}', 1, false, '2025-01-01')`,
    [uploaded],
  );
  assert.equal(await found(formatId('image', uploaded)), undefined);
  assert.equal(await found('custom'), undefined);
});

test('an os without a variant resolves to the plain image', async () => {
  await fixture.db.run(
    `insert into images (id, type, family, version, variant, arch, size_gb, cloud_init, released_at)
     select gen_random_uuid(), type, family, version, 'minimal', arch, size_gb, cloud_init, released_at
       from images where family = 'debian' and version = '12'`,
  );
  const image = await findImageForOs(fixture.db, 'debian-12');
  assert.equal(image?.variant, null);
});
