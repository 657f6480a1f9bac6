/** Writes the generated pages of docs/operators and docs/contributors. Tests fail if they are out of date. */
import { writeFileSync } from 'node:fs';
import { commandsPage, settingsPage } from './operator-docs.ts';
import { reliabilityPage } from './reliability-page.ts';

const FOLDER = new URL('../docs/operators/', import.meta.url);
const RELIABILITY = new URL('../docs/contributors/reliability.md', import.meta.url);
writeFileSync(new URL('settings.md', FOLDER), settingsPage());
writeFileSync(new URL('commands.md', FOLDER), commandsPage());
writeFileSync(RELIABILITY, reliabilityPage());
