// The health check of the image, which has no shell and no curl: exits 0 if the service is ready.
import { existsSync } from 'node:fs';

if (existsSync('.env')) process.loadEnvFile('.env');
const url = `http://127.0.0.1:${process.env.SKERRY_PORT || 8080}/readyz`;
const response = await fetch(url, { signal: AbortSignal.timeout(4000) }).catch(() => null);
process.exitCode = response?.ok ? 0 : 1;
