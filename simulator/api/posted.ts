import { createRejection } from '../http/errors.ts'
import type { ApiRequest } from '../http/request.ts'
import { readWall } from '../shop/clock.ts'
import type { Address, Contacts } from '../shop/records.ts'
import type { World } from '../world/world.ts'
import { keepExpectedElements, type Shape, shape } from '../xml/order.ts'
import { at, type Payload, textAt } from '../xml/payload.ts'

/** The posted document with its elements in the guide's order. Unknown elements are dropped. */
export function posted(request: ApiRequest, { settings }: World, root: string, expected: Shape): Payload {
  const payload = request.payload()
  if (payload.name !== root)
    throw createRejection(5121, { detail: `<${payload.name}> was not expected, but <${root}>` })
  return keepExpectedElements(payload, expected, (name, after) => {
    if (settings.elementOrder === 'strict')
      throw createRejection(5121, { detail: `element ${name} was not expected after ${after}` })
    return settings.elementOrder === 'any' ? 'keep' : 'drop'
  })
}

const address = shape('ContactName CompanyName AddressLine1 AddressLine2 City State Postcode Country')
export const addresses = shape('Billing Delivery', { Billing: address, Delivery: address })
export const contacts = shape('Email Phones', { Phones: shape('Home Mobile Work') })

/** Returns a text, or an empty one if it is absent. Throws if it is too long. */
export function text(payload: Payload | undefined, name: string, maxLength: number): string {
  const value = textAt(payload, name) ?? ''
  if (value.length > maxLength)
    throw createRejection(5014, { detail: `${name} has ${value.length} characters, at most ${maxLength} are allowed` })
  return value
}

/** `true` or `false`, or undefined if it is missing or empty. Other values are rejected with this code. */
export function flag(payload: Payload, name: string, code: number): boolean | undefined {
  const value = textAt(payload, name)
  if (!value) return
  if (!/^(true|false)$/i.test(value)) throw createRejection(code)
  return value.toLowerCase() === 'true'
}

/** Returns a day, or an empty text if it is absent. */
export function dayOf(payload: Payload, name: string, code = 5099): string {
  const value = textAt(payload, name) ?? ''
  if (value !== '' && !/^\d{4}-\d\d-\d\d$/.test(value)) throw createRejection(code, { detail: name })
  if (value !== '' && readWall(value) === undefined) throw createRejection(5144, { detail: `${name} ${value}` })
  return value
}

/** Returns a decimal number, or undefined if it is absent or empty. */
export function decimal(payload: Payload | undefined, name: string): number | undefined {
  const value = textAt(payload, name)
  if (!value) return
  if (!/^[+-]?\d{1,12}(\.\d+)?$/.test(value)) throw createRejection(5109, { detail: `${name} ${value}` })
  return Number(value)
}

export function addressFrom(payload: Payload | undefined): Address {
  return {
    contactName: text(payload, 'ContactName', 100),
    companyName: text(payload, 'CompanyName', 50),
    line1: text(payload, 'AddressLine1', 50),
    line2: text(payload, 'AddressLine2', 50),
    city: text(payload, 'City', 50),
    state: text(payload, 'State', 50),
    postcode: text(payload, 'Postcode', 10),
    country: text(payload, 'Country', 20),
  }
}

export function contactsFrom(payload: Payload | undefined): Contacts {
  const phones = at(payload, 'Phones')
  return {
    email: text(payload, 'Email', 250),
    home: text(phones, 'Home', 250),
    mobile: text(phones, 'Mobile', 250),
    work: text(phones, 'Work', 250),
  }
}
