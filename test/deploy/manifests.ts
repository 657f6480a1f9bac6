/** Files of `deploy/`, and what a Kubernetes manifest or a compose file contains. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';

export const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url));
/** Long enough for a program on a busy machine. */
export const PROGRAM_TIMEOUT_MS = 60_000;

export const VERSION: string = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
).version;

export function readDeployFile(name: string): string {
  return readFileSync(`${DEPLOY}${name}`, 'utf8');
}

// biome-ignore lint/suspicious/noExplicitAny: tests read any field and fail if it is missing.
export type Manifest = any;

export interface NamedManifest {
  /** `deploy/kubernetes/api.yaml Deployment skerry-api` */
  readonly name: string;
  readonly manifest: Manifest;
}

/** Every document of the manifests for Kubernetes. */
export function readManifests(): readonly NamedManifest[] {
  return readdirSync(`${DEPLOY}kubernetes`)
    .filter((file) => file.endsWith('.yaml'))
    .flatMap((file) =>
      parseAllDocuments(readDeployFile(`kubernetes/${file}`)).map((document) => {
        const manifest: Manifest = document.toJS();
        return { name: `kubernetes/${file} ${manifest.kind} ${manifest.metadata.name}`, manifest };
      }),
    );
}
