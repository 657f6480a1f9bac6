/**
 * Flags that style.css draws from stripes, crosses, and discs, so that they need no pictures and no font.
 * Every other country has its code in place of a flag.
 */
import { type Html, html } from '../parts/html.ts';

/** The pattern of each country's flag; style.css has its colors. */
const PATTERNS: Readonly<Record<string, 'vertical' | 'horizontal' | 'cross' | 'plus' | 'disc'>> = {
  ...{ BE: 'vertical', FR: 'vertical', IE: 'vertical', IT: 'vertical', RO: 'vertical' },
  ...{
    AM: 'horizontal',
    AT: 'horizontal',
    BG: 'horizontal',
    DE: 'horizontal',
    EE: 'horizontal',
    HU: 'horizontal',
    LT: 'horizontal',
    LU: 'horizontal',
  },
  ...{ NL: 'horizontal', PL: 'horizontal', UA: 'horizontal' },
  ...{ DK: 'cross', FI: 'cross', IS: 'cross', NO: 'cross', SE: 'cross' },
  ...{ CH: 'plus', JP: 'disc' },
};

const COUNTRIES = new Intl.DisplayNames('en', { type: 'region' });

export function countryName(code: string): string {
  return COUNTRIES.of(code) ?? code;
}

/** Stands before the name of the country, which says the same. */
export function flag(country: string): Html {
  const pattern = Object.hasOwn(PATTERNS, country) ? PATTERNS[country] : undefined;
  return pattern === undefined
    ? html`<span class="flag" aria-hidden="true">${country}</span>`
    : html`<span class="flag ${pattern} flag-${country.toLowerCase()}" aria-hidden="true"></span>`;
}
