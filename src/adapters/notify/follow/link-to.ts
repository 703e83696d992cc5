/** Fills in the link of a message. Pure. */
const place = '{approval_id}';

/** A link that names an approval leads nowhere without one. */
export function linkTo(link: string | null, id: string | null): string | null {
  if (link === null || !link.includes(place)) return link;
  return id === null ? null : link.replaceAll(place, encodeURIComponent(id));
}
