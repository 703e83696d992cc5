/** Small drawings, in the colour of the text beside them. Decoration: a reader of the page does not hear them. */
const paths = {
  live: 'M3 12h4l3-8 4 16 3-8h4',
  inbox: 'M4 13l3-8h10l3 8v6H4zM4 13h5l1.5 3h3l1.5-3h5',
  sessions: 'M6 6h4v4H6zM14 14h4v4h-4zM8 10v6h6M14 6h4v4h-4z',
  policy: 'M12 3l7 3v6c0 4.5-3 7.5-7 9-4-1.5-7-4.5-7-9V6zM9 12l2 2 4-4',
  tools: 'M4 7h10M18 7h2M4 17h2M10 17h10M14 5v4M8 15v4',
  proof: 'M9 12l2 2 4-5M7 3h10v18l-5-3-5 3z',
  call: 'M4 6h16M4 12h10M4 18h7',
  sun: 'M12 8a4 4 0 100 8 4 4 0 000-8M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.5 1.5M17.5 17.5L19 19M5 19l1.5-1.5M17.5 6.5L19 5',
  moon: 'M20 14.5A8 8 0 119.5 4a6.5 6.5 0 0010.5 10.5z',
  system: 'M4 5h16v11H4zM9 20h6M12 16v4',
  help: 'M9.5 9.5a2.5 2.5 0 113.5 2.3c-.7.3-1 .8-1 1.7M12 17v.1M12 3a9 9 0 100 18 9 9 0 000-18',
  leave: 'M10 4H5v16h5M14 8l4 4-4 4M18 12H9',
  pause: 'M8 5v14M16 5v14',
  play: 'M7 5l12 7-12 7z',
  close: 'M6 6l12 12M18 6L6 18',
  back: 'M14 6l-6 6 6 6',
  clock: 'M12 7v5l3 2M12 3a9 9 0 100 18 9 9 0 000-18',
  copy: 'M8 8h11v12H8zM5 16V4h11',
  warning: 'M12 4l9 16H3zM12 10v4M12 17v.1',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}
