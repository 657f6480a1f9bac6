/** Writes the generated pages of docs/operators. A test fails if they are out of date. */
import { writeFileSync } from 'node:fs';
import { commandsPage, settingsPage } from './operator-docs.ts';

const FOLDER = new URL('../docs/operators/', import.meta.url);
writeFileSync(new URL('settings.md', FOLDER), settingsPage());
writeFileSync(new URL('commands.md', FOLDER), commandsPage());
