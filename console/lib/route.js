import { useLayoutEffect, useState } from 'preact/hooks'

// The route follows the `#`, so record numbers reach neither the server nor its log.

/** Returns the parts of the address: `#customer/65432` is `['customer', '65432']`. @returns {string[]} */
const readParts = () => location.hash.slice(1).split('/').filter(Boolean).map(decodePart)

/** Decodes a part. Returns it unchanged if it isn't URL-encoded. @param {string} part */
function decodePart(part) {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Returns the parts of the address, and renders again if they change. */
export function useRoute() {
  const [parts, setParts] = useState(readParts)
  // A layout effect, so that no change between render and paint is missed.
  useLayoutEffect(() => {
    const update = () => setParts(readParts())
    addEventListener('hashchange', update)
    return () => removeEventListener('hashchange', update)
  }, [])
  return parts
}

/** Returns the link to a route. @param {string[]} parts */
export const linkTo = (...parts) => `#${parts.map(encodeURIComponent).join('/')}`
/** @param {string[]} parts */
export const goTo = (...parts) => {
  location.hash = linkTo(...parts)
}
