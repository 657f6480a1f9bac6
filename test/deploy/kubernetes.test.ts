/** The Kubernetes manifests fit the schemas and types of Kubernetes, the service, and each other. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ENDINGS } from '../../src/compose/draining.ts';
import { requireLiveSafety } from '../../src/compose/live-safety.ts';
import { loadConfig } from '../../src/config.ts';
import { type Manifest, PROGRAM_TIMEOUT_MS, readManifests, VERSION } from './manifests.ts';

const MANIFESTS = readManifests();
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const COMMANDS = readFileSync(join(ROOT, 'docs/operators/commands.md'), 'utf8');
/** `stop` of the service gives up this long after the requests. */
const STOP_MARGIN_S = 5;

function find(kind: string, name: string): Manifest {
  const found = MANIFESTS.find(({ manifest }) => manifest.kind === kind && manifest.metadata.name === name);
  return found?.manifest ?? assert.fail(`no ${kind} ${name}`);
}

/** Where the package has the schema of a kind: `apps/v1/Deployment`. */
function moduleOf({ apiVersion, kind }: Manifest): string {
  return `kubernetes-models/${apiVersion}/${kind}`;
}

const WORKLOADS = MANIFESTS.filter(({ manifest }) => manifest.spec?.template !== undefined);

describe('the Kubernetes manifests', () => {
  for (const { name, manifest } of MANIFESTS) {
    it(`${name} fits the schema of Kubernetes`, async () => {
      const module = (await import(moduleOf(manifest))) as Record<
        string,
        new (
          data: Manifest,
        ) => { validate(): void }
      >;
      const Model = module[manifest.kind] ?? assert.fail(`no schema of ${manifest.kind}`);
      new Model(manifest).validate();
    });
  }

  // The schemas allow unknown fields, and a cluster drops them, such as a mistyped one. The types do not.
  it('have no field that Kubernetes does not know', () => {
    const folder = mkdtempSync(join(tmpdir(), 'skerry-manifests-'));
    try {
      symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
      writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
      const check = (manifests: readonly Manifest[]) => {
        const lines = manifests.map(
          (manifest, n) =>
            `import type { I${manifest.kind} as T${n} } from '${moduleOf(manifest)}';\n` +
            `export const m${n}: T${n} = ${JSON.stringify(manifest)};\n`,
        );
        writeFileSync(join(folder, 'manifests.ts'), lines.join(''));
        const options = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022'];
        options.push('--module', 'nodenext', '--types', '', 'manifests.ts');
        return spawnSync(findCompiler(), options, {
          cwd: folder,
          encoding: 'utf8',
          timeout: PROGRAM_TIMEOUT_MS,
        }).stdout;
      };
      assert.equal(check(MANIFESTS.map(({ manifest }) => manifest)), '');
      const mistyped = structuredClone(find('Deployment', 'skerry-api'));
      mistyped.spec.template.spec.containers[0].securityContext.readOnlyRootFileSystem = true;
      assert.match(check([mistyped]), /readOnlyRootFileSystem/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  for (const { name, manifest } of WORKLOADS) {
    it(`${name} runs without privileges, and without variables of Kubernetes`, () => {
      const { spec } = manifest.spec.template;
      assert.equal(spec.automountServiceAccountToken, false);
      // SKERRY_API_PORT and others would be unknown settings.
      assert.equal(spec.enableServiceLinks, false);
      const { runAsNonRoot, runAsUser, seccompProfile } = spec.securityContext;
      assert.deepEqual([runAsNonRoot, runAsUser, seccompProfile.type], [true, 10_001, 'RuntimeDefault']);
      for (const container of spec.containers) {
        assert.equal(container.image, `skerry:${VERSION}`);
        assert.deepEqual(container.securityContext, {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        const volumes = spec.volumes.map((volume: Manifest) => volume.name);
        for (const mount of container.volumeMounts) assert.ok(volumes.includes(mount.name), mount.name);
        assert.ok(container.resources.limits.memory);
      }
    });

    it(`${name} has arguments that skerryd knows`, () => {
      const [command, ...args] = manifest.spec.template.spec.containers[0].args;
      const [, rest = ''] = COMMANDS.split(`\n## ${command}\n`);
      const options = args.filter((arg: string) => arg.startsWith('--'));
      assert.ok(options.length > 0);
      for (const option of options) assert.ok(rest.split('\n## ')[0]?.includes(`| \`${option}`), option);
    });
  }

  it('select the pods that they describe', () => {
    for (const role of ['api', 'worker']) {
      const { selector, template } = find('Deployment', `skerry-${role}`).spec;
      assert.deepEqual(selector.matchLabels, template.metadata.labels);
      const budget = find('PodDisruptionBudget', `skerry-${role}`).spec;
      assert.deepEqual(budget.selector.matchLabels, template.metadata.labels);
      const policy = find('NetworkPolicy', `skerry-${role}`).spec.podSelector.matchLabels;
      for (const [label, value] of Object.entries(policy))
        assert.equal(template.metadata.labels[label], value);
    }
    const { selector, ports } = find('Service', 'skerry-api').spec;
    const { template } = find('Deployment', 'skerry-api').spec;
    assert.deepEqual(selector, template.metadata.labels);
    const [{ name }] = template.spec.containers[0].ports;
    assert.deepEqual(
      ports.map((port: Manifest) => port.targetPort),
      [name],
    );
    assert.deepEqual(find('NetworkPolicy', 'skerry-default').spec.podSelector, {});
  });

  it('have settings with which a live service starts', () => {
    const { data } = find('ConfigMap', 'skerry-settings');
    const key = Buffer.alloc(32).toString('base64');
    const database = 'DATABASE_URL=postgres://skerry:example@postgres.example/skerry';
    const secrets = `${database}\nSKERRY_SECRET_KEY=k1:${key}`;
    const config = loadConfig({ ...data, SKERRY_ADMIN_HOST: '10.244.1.7' }, secrets);
    requireLiveSafety(config);
    assert.equal(config.SKERRY_COMPUTE, 'hosts');
    const [http, admin] = find('Deployment', 'skerry-api').spec.template.spec.containers[0].ports;
    assert.deepEqual(
      [http.containerPort, admin.containerPort],
      [config.SKERRY_PORT, config.SKERRY_ADMIN_PORT],
    );
    // Applying the folder again must not replace the operator's secrets.
    assert.ok(MANIFESTS.every(({ manifest }) => manifest.kind !== 'Secret'));
  });

  it('give a pod the time to leave: first its proxies, then its clients', () => {
    const { spec } = find('Deployment', 'skerry-api').spec.template;
    const [{ args, lifecycle, readinessProbe, livenessProbe }] = spec.containers;
    assert.ok(args.includes('--shared-port'));
    const leaveS = lifecycle.preStop.sleep.seconds + ENDINGS.left.requestsMs / 1_000 + STOP_MARGIN_S;
    assert.ok(spec.terminationGracePeriodSeconds > leaveS);
    // A proxy that asks for readiness learns it before the pod stops.
    const { periodSeconds, failureThreshold } = readinessProbe;
    assert.ok(lifecycle.preStop.sleep.seconds > periodSeconds * failureThreshold);
    assert.deepEqual([livenessProbe.httpGet.path, readinessProbe.httpGet.path], ['/healthz', '/readyz']);
    const { strategy } = find('Deployment', 'skerry-api').spec;
    assert.equal(strategy.rollingUpdate.maxUnavailable, 0);
  });
});

function findCompiler(): string {
  const name = `@typescript/typescript-linux-${process.arch}/package.json`;
  return join(dirname(createRequire(import.meta.url).resolve(name)), 'lib/tsc');
}
