/** Shows the page that the address names; loads it when it is first needed. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Empty, Loading, ProblemNote } from '../parts/notice.tsx';
import type { PageProps } from '../pages/page-props.ts';
import { pages } from '../pages/pages.ts';
import { linkTo, route } from '../state/route.ts';

type Shown = ComponentType<PageProps> | 'loading' | 'failed';

export function PageView() {
  const { page, id } = route.value;
  const entry = pages.find(({ name }) => name === page);
  const [shown, setShown] = useState<{ readonly page: string; readonly what: Shown }>({ page: '', what: 'loading' });
  useEffect(() => {
    let isCurrent = true;
    const show = (what: Shown) => isCurrent && setShown({ page, what });
    entry?.load().then(show, () => show('failed'));
    return () => {
      isCurrent = false;
    };
  }, [page]);
  if (entry === undefined)
    return (
      <Empty title="There is no such page">
        <a href={linkTo('live')}>Go to Live</a>
      </Empty>
    );
  if (shown.page !== page || shown.what === 'loading') return <Loading />;
  if (shown.what === 'failed') return <ProblemNote problem={notLoaded} again={() => location.reload()} />;
  const Page = shown.what;
  return <Page id={id} />;
}

const notLoaded = {
  status: 0,
  code: 'not_loaded',
  detail: 'this page could not be loaded: the gateway may have been replaced by another version, so load it again',
};
