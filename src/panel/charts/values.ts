/** The values of a chart at each of its times, for the script that shows them next to a crosshair. */
import { formatAmount, formatDateTime } from './axes.ts';
import { type LineChart, layOutChart } from './plot.ts';

/** Places are in the units of the picture's size. */
export interface ChartValues {
  readonly width: number;
  readonly height: number;
  /** The edges between which the crosshair moves. */
  readonly top: number;
  readonly bottom: number;
  readonly names: readonly string[];
  /** In order of time. `y` and `texts` have one entry for each name: null and a dash where there is a gap. */
  readonly moments: readonly {
    readonly x: number;
    readonly time: string;
    readonly y: readonly (number | null)[];
    readonly texts: readonly string[];
  }[];
}

/** Returns the points that the picture of this chart shows. */
export function chartValues(chart: LineChart): ChartValues {
  const { span, series, plot } = layOutChart(chart);
  const known = series.map((points) => new Map(points.flatMap(({ timeS, value }) => valueAt(timeS, value))));
  const times = [...new Set(known.flatMap((values) => [...values.keys()]))].sort((a, b) => a - b);
  return {
    ...{ width: chart.width, height: chart.height, top: plot.top, bottom: plot.bottom },
    names: chart.series.map(({ name }) => name),
    moments: times.map((timeS) => {
      const values = known.map((each) => each.get(timeS) ?? null);
      return {
        x: plot.x(timeS),
        // A point is in the middle of the time that it averages, so the seconds of a short one say nothing.
        time: `${formatDateTime(Math.max(Math.floor(timeS / 60) * 60, span.startS))} UTC`,
        y: values.map((value) => (value === null ? null : plot.y(value))),
        texts: values.map((value) => (value === null ? '–' : formatAmount(value, chart.unit))),
      };
    }),
  };
}

function valueAt(timeS: number, value: number | null): [number, number][] {
  return value === null ? [] : [[timeS, value]];
}
