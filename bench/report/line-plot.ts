/** A line of a plot. */
export interface PlotLine {
  label: string;
  /** From the left to the right, one for each tick of the x axis; undefined where not measured. */
  values: readonly (number | undefined)[];
  colour: Colour;
  isDashed?: boolean;
}

export interface LinePlot {
  /** For those who do not see it. */
  title: string;
  xTitle: string;
  yTitle: string;
  /** Evenly apart. */
  xTicks: readonly string[];
  lines: readonly PlotLine[];
}

const COLOURS = {
  blue: { light: '#0969da', dark: '#4493f8' },
  green: { light: '#1a7f37', dark: '#3fb950' },
  orange: { light: '#bc4c00', dark: '#db6d28' },
  purple: { light: '#8250df', dark: '#ab7df8' },
} as const;
export type Colour = keyof typeof COLOURS;

const WIDTH = 760;
const HEIGHT = 380;
/** Space for the labels of the axes and, on the right, for the names of the lines. */
const AREA = { left: 76, right: 570, top: 40, bottom: 322 };
const LABEL_HEIGHT = 17;

/** Draws an SVG for light and dark pages, without scripts or embedded fonts. */
export function linePlot(plot: LinePlot): string {
  const ticks = yTicks(plot.lines);
  const top = ticks.at(-1) ?? 1;
  const x = (at: number): number =>
    AREA.left +
    (AREA.right - AREA.left) * (plot.xTicks.length > 1 ? at / (plot.xTicks.length - 1) : 0.5);
  const y = (value: number): number => AREA.bottom - ((AREA.bottom - AREA.top) * value) / top;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escape(plot.title)}">
<title>${escape(plot.title)}</title>
<style>${style()}</style>
<rect class="page" width="${WIDTH}" height="${HEIGHT}" rx="6"/>
${text(AREA.left - 60, 22, plot.yTitle, 'start')}
${text((AREA.left + AREA.right) / 2, HEIGHT - 14, plot.xTitle, 'middle')}
${ticks.map((value) => gridLine(value, y(value))).join('\n')}
${plot.xTicks.map((tick, at) => text(x(at), AREA.bottom + 22, tick, 'middle')).join('\n')}
${plot.lines.map((line) => curve(line, x, y)).join('\n')}
${labels(plot.lines, y).join('\n')}
</svg>
`;
}

function style(): string {
  const names = Object.keys(COLOURS) as Colour[];
  const paint = (shade: 'light' | 'dark'): string =>
    names
      .map((name) => `.${name}{stroke:${COLOURS[name][shade]};fill:${COLOURS[name][shade]}}`)
      .join('');
  return [
    'text{font:13px system-ui,sans-serif;fill:#59636e}',
    '.page{fill:#fff}.grid{stroke:#d1d9e0}',
    'polyline{fill:none!important;stroke-width:2.5}.dashed{stroke-dasharray:5 5}',
    '.name{stroke:none!important;font-weight:600}',
    paint('light'),
    `@media(prefers-color-scheme:dark){text{fill:#9198a1}.page{fill:#0d1117}.grid{stroke:#3d444d}${paint('dark')}}`,
  ].join('');
}

function gridLine(value: number, y: number): string {
  return `<line class="grid" x1="${AREA.left}" x2="${AREA.right}" y1="${at(y)}" y2="${at(y)}"/>${text(AREA.left - 8, y + 4, value.toLocaleString('en-US'), 'end')}`;
}

function curve(line: PlotLine, x: (at: number) => number, y: (value: number) => number): string {
  const points = line.values.flatMap((value, index) =>
    value === undefined ? [] : [{ x: at(x(index)), y: at(y(value)) }],
  );
  const dashed = line.isDashed ? ' dashed' : '';
  const path = points.map((point) => `${point.x},${point.y}`).join(' ');
  const dots = points.map(
    (point) => `<circle class="${line.colour}" cx="${point.x}" cy="${point.y}" r="3.5"/>`,
  );
  return `<polyline class="${line.colour}${dashed}" points="${path}"/>${dots.join('')}`;
}

/** Places each name beside the end of its line, and moves it down where two would overlap. */
function labels(lines: readonly PlotLine[], y: (value: number) => number): string[] {
  const wanted = lines
    .map((line) => ({ line, y: y(line.values.findLast((value) => value !== undefined) ?? 0) }))
    .sort((a, b) => a.y - b.y);
  let lowest = Number.NEGATIVE_INFINITY;
  const below = wanted.length * LABEL_HEIGHT;
  return wanted.map(({ line, y: wish }, index) => {
    const most = AREA.bottom + 4 - (below - (index + 1) * LABEL_HEIGHT);
    lowest = Math.max(lowest + LABEL_HEIGHT, Math.min(wish + 4, most));
    return `<text class="name ${line.colour}" x="${AREA.right + 12}" y="${at(lowest)}">${escape(line.label)}</text>`;
  });
}

/** The ticks of an axis: from 0 to the next round number above all values, in four to six steps. */
function yTicks(lines: readonly PlotLine[]): number[] {
  const most = Math.max(
    1,
    ...lines.flatMap(({ values }) => values.filter((value) => value !== undefined)),
  );
  const rough = most / 5;
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * magnitude >= rough) ?? 10) * magnitude;
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, index) => index * step);
}

function text(x: number, y: number, content: string, anchor: 'start' | 'middle' | 'end'): string {
  return `<text x="${at(x)}" y="${at(y)}" text-anchor="${anchor}">${escape(content)}</text>`;
}

function at(position: number): string {
  return String(Math.round(position * 10) / 10);
}

function escape(content: string): string {
  return content.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;');
}
