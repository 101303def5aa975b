/** Whether two names are the same but for case and punctuation, one begins the other, or two letters differ at most. */
export function isNear(a: string, b: string) {
  const [x, y] = [a, b].map(name => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')) as [string, string]
  if (Math.min(x.length, y.length) < 3) return x === y
  return x.startsWith(y) || y.startsWith(x) || distance(x, y) <= Math.min(2, Math.floor(y.length / 3))
}

/** How many letters must be put in, taken out or changed (Levenshtein 1966). */
function distance(a: string, b: string) {
  let row = [...Array(b.length + 1).keys()]
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++)
      next.push(
        Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)),
      )
    row = next
  }
  return row[b.length] ?? 0
}
