/** The list of pages. Pages that have something waiting show how much. */
import { Icon } from '../parts/icon.tsx';
import { pages } from '../pages/pages.ts';
import { linkTo, route } from '../state/route.ts';
import { waiting } from '../state/waiting.ts';

export function Navigation() {
  const now = route.value.page;
  return (
    <nav class="navigation" aria-label="Pages">
      <a class="brand" href={linkTo('live')}>
        <img src="/favicon.svg" alt="" width="22" height="22" />
        <span>Recourse</span>
      </a>
      <ul>
        {pages
          .filter(({ key }) => key !== null)
          .map(({ name, title, icon }) => {
            const count = waiting.value[name] ?? 0;
            return (
              <li key={name}>
                <a href={linkTo(name)} aria-current={now === name ? 'page' : undefined}>
                  <Icon name={icon} />
                  <span>{title}</span>
                  {count > 0 && (
                    <span class="count" title={`${count} waiting`}>
                      {count > 99 ? '99+' : count}
                      <span class="only-heard"> waiting</span>
                    </span>
                  )}
                </a>
              </li>
            );
          })}
      </ul>
    </nav>
  );
}
