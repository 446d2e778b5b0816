const SVG = 'http://www.w3.org/2000/svg';

const PATHS = {
  mic: ['M12 3a3 3 0 0 0-3 3v5a3 3 0 0 0 6 0V6a3 3 0 0 0-3-3Z', 'M6 11a6 6 0 0 0 12 0', 'M12 17v4'],
  'mic-off': [
    'M15 9.4V6a3 3 0 0 0-5.7-1.3',
    'M9 9v2a3 3 0 0 0 4.6 2.5',
    'M6 11a6 6 0 0 0 9.6 4.8',
    'M18 11c0 .7-.1 1.4-.35 2',
    'M12 17v4',
    'M4 4l16 16',
  ],
  'hang-up': ['M2.5 14.8c5-6 14-6 19 0l-2 3.2-4.3-1.8v-3a12 12 0 0 0-6.4 0v3l-4.3 1.8Z'],
  send: ['M5 12h13', 'M13 6l6 6-6 6'],
  plus: ['M12 5v14', 'M5 12h14'],
} as const;

export type IconName = keyof typeof PATHS;

/** A line drawing in the colour of the text beside it; says nothing to a screen reader. */
export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('class', 'icon');
  svg.setAttribute('aria-hidden', 'true');
  for (const d of PATHS[name]) {
    const path = document.createElementNS(SVG, 'path');
    path.setAttribute('d', d);
    svg.append(path);
  }
  return svg;
}
