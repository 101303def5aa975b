const form = /^(\d{4})\.(\d{1,3})([a-z]?)$/

/** Whether the text is a release: a year, a number, perhaps a letter (`2023.4a`). */
export const isRelease = (text: string) => form.test(text)

/** Whether `release` is `minimum` or later, by year, number and letter: 2022.10 comes after 2022.2. What cannot be read is early. */
export function isAtLeast(release: string, minimum: string) {
  const [a, b] = [form.exec(release), form.exec(minimum)]
  if (!a || !b) return false
  const order =
    Number(a[1]) - Number(b[1]) || Number(a[2]) - Number(b[2]) || (a[3] ?? '').localeCompare(b[3] ?? '', 'en')
  return order >= 0
}
