/** Reads the operator's own texts and logo, once at the start. */
import { readFileSync, statSync } from 'node:fs';
import type { Config } from '../config.ts';
import type { SitePage, SiteSettings } from '../http/settings.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { parseFooterLinks } from '../kernel/settings/site.ts';
import { LOGO_MAX_BYTES, readLogo } from './logo.ts';

const TEXT_MAX_BYTES = 256 * 1024;

/** Throws if a file cannot be used: customers would see that there is none. */
export function readSite(config: Config): SiteSettings {
  return {
    terms: readPage('SKERRY_TERMS_FILE', config.SKERRY_TERMS_FILE, config.SKERRY_TERMS_URL),
    privacy: readPage('SKERRY_PRIVACY_FILE', config.SKERRY_PRIVACY_FILE, config.SKERRY_PRIVACY_URL),
    contact: config.SKERRY_CONTACT,
    abuseForm: config.SKERRY_ABUSE_FORM,
    accent: config.SKERRY_ACCENT_COLOR?.toLowerCase() ?? null,
    logo: config.SKERRY_LOGO_FILE === null ? null : readLogo(readBytes(config.SKERRY_LOGO_FILE)),
    footerText: config.SKERRY_FOOTER_TEXT,
    footerLinks: parseFooterLinks(config.SKERRY_FOOTER_LINKS),
  };
}

function readPage(setting: string, file: string | null, url: string | null): SitePage | null {
  if (url !== null) return { url };
  if (file === null) return null;
  const text = readText(file);
  if (text !== null && text.trim() !== '') return { text };
  throw new OperatorError(
    `${setting}: not a readable Markdown file of 1 byte to ${TEXT_MAX_BYTES / 1024} KiB; ` +
      'fix the path, or unset it',
  );
}

function readText(file: string): string | null {
  try {
    if (statSync(file).size > TEXT_MAX_BYTES) return null;
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch {
    // The caller reports a missing file and an invalid one alike.
    return null;
  }
}

function readBytes(file: string): Buffer | null {
  try {
    return statSync(file).size > LOGO_MAX_BYTES ? null : readFileSync(file);
  } catch {
    return null;
  }
}
