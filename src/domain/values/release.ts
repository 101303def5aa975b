const form = /^(\d{4})\.(\d{1,3})([a-z]?)$/

/** True if the text is a version of the back office: a year, a number and an optional letter (`2023.4a`). */
export const isRelease = (text: string) => form.test(text)

/** True if `release` is `minimum` or later, by year, number and letter: 2022.10 is later than 2022.2. False if either can't be parsed. */
export function isAtLeast(release: string, minimum: string) {
  const [a, b] = [form.exec(release), form.exec(minimum)]
  if (!a || !b) return false
  const order =
    Number(a[1]) - Number(b[1]) || Number(a[2]) - Number(b[2]) || (a[3] ?? '').localeCompare(b[3] ?? '', 'en')
  return order >= 0
}
