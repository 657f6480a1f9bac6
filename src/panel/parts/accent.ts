/**
 * The host's accent color. A color that is too light or too dark to read becomes a shade that is readable on
 * every background of the panel, in the light scheme and in the dark one.
 */

/** WCAG AA for text of any size. */
const CONTRAST_MIN = 4.5;
/** Mixing takes this many steps from the color itself to black or white. */
const STEPS = 64;

type Rgb = readonly [red: number, green: number, blue: number];

interface Scheme {
  /** The tokens of style.css on which text and links in the accent color are. The first is the sheet. */
  readonly backgrounds: readonly string[];
  /** The end to which an unreadable color moves. */
  readonly end: string;
  /** How much of the accent is in `--sea-faint`. */
  readonly faintShare: number;
}

export const SCHEMES = {
  light: {
    backgrounds: ['#ffffff', '#f4f6f7', '#edf0f2', '#fbe9e7', '#fdf2d8', '#e3f3e8'],
    end: '#000000',
    faintShare: 0.1,
  },
  dark: {
    backgrounds: ['#161d24', '#0e1318', '#1f2831', '#3a1e1c', '#332915', '#162d1f'],
    end: '#ffffff',
    faintShare: 0.16,
  },
} as const satisfies Record<string, Scheme>;

const BUTTON_TEXTS = ['#ffffff', '#0b1a1d'] as const;

export interface AccentShades {
  /** Of links and buttons, of text on buttons, and behind chosen items. */
  readonly sea: string;
  readonly seaInk: string;
  readonly seaFaint: string;
}

/** Returns the shades of a color, `#rrggbb`, for a scheme. */
export function accentShades(accent: string, scheme: keyof typeof SCHEMES): AccentShades {
  const { backgrounds, end, faintShare } = SCHEMES[scheme];
  for (let step = 0; ; step++) {
    const sea = mix(accent, end, step / STEPS);
    const seaFaint = mix(backgrounds[0], sea, faintShare);
    const isReadable = [...backgrounds, seaFaint].every((one) => contrast(sea, one) >= CONTRAST_MIN);
    const [white, dark] = BUTTON_TEXTS;
    const seaInk = contrast(sea, white) >= contrast(sea, dark) ? white : dark;
    if (step === STEPS || isReadable) return { sea, seaInk, seaFaint };
  }
}

/** Returns the rules that replace the accent color of style.css. */
export function accentRules(accent: string): string {
  const rules = (scheme: keyof typeof SCHEMES): string => {
    const { sea, seaInk, seaFaint } = accentShades(accent, scheme);
    return `:root { --sea: ${sea}; --sea-ink: ${seaInk}; --sea-faint: ${seaFaint} }`;
  };
  return `${rules('light')}\n@media (prefers-color-scheme: dark) { ${rules('dark')} }\n`;
}

/** Returns the contrast ratio of two colors as WCAG defines it, from 1 to 21. */
export function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(color: string): number {
  const [red, green, blue] = parse(color).map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as unknown as Rgb;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function mix(from: string, to: string, share: number): string {
  const target = parse(to);
  const mixed = parse(from).map((value, index) => value + ((target[index] ?? 0) - value) * share);
  return `#${mixed.map((value) => Math.round(value).toString(16).padStart(2, '0')).join('')}`;
}

function parse(color: string): Rgb {
  const number = Number.parseInt(color.slice(1), 16);
  return [(number >> 16) & 255, (number >> 8) & 255, number & 255];
}
