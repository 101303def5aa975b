import { createRejection } from '../http/errors.ts'
import type { ApiRequest } from '../http/request.ts'
import { parseWall } from '../shop/clock.ts'
import type { Address, Contacts } from '../shop/records.ts'
import type { World } from '../world/world.ts'
import { keepExpectedElements, type Shape, shape } from '../xml/order.ts'
import { findElement, findText, type Payload } from '../xml/payload.ts'

/** Reads the posted document. Drops unknown elements and, depending on the settings, elements that are out of the guide's order. */
export function readDocument(request: ApiRequest, { settings }: World, root: string, expected: Shape): Payload {
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
export const addressesShape = shape('Billing Delivery', { Billing: address, Delivery: address })
export const contactsShape = shape('Email Phones', { Phones: shape('Home Mobile Work') })

/** Returns a string, which is empty if the element is missing. Throws an error response if it is too long. */
export function readText(payload: Payload | undefined, name: string, maxLength: number): string {
  const value = findText(payload, name) ?? ''
  if (value.length > maxLength)
    throw createRejection(5014, { detail: `${name} has ${value.length} characters, at most ${maxLength} are allowed` })
  return value
}

/** Returns a boolean, or undefined if the element is missing or empty. Throws an error response with this code for other values. */
export function readFlag(payload: Payload, name: string, code: number): boolean | undefined {
  const value = findText(payload, name)
  if (!value) return
  if (!/^(true|false)$/i.test(value)) throw createRejection(code)
  return value.toLowerCase() === 'true'
}

/** Returns a day as `yyyy-MM-dd`, which is empty if the element is missing. Throws an error response if it is invalid. */
export function readDay(payload: Payload, name: string, code = 5099): string {
  const value = findText(payload, name) ?? ''
  if (value !== '' && !/^\d{4}-\d\d-\d\d$/.test(value)) throw createRejection(code, { detail: name })
  if (value !== '' && parseWall(value) === undefined) throw createRejection(5144, { detail: `${name} ${value}` })
  return value
}

/** Returns a decimal number, or undefined if the element is missing or empty. Throws an error response if it is invalid. */
export function readDecimal(payload: Payload | undefined, name: string): number | undefined {
  const value = findText(payload, name)
  if (!value) return
  if (!/^[+-]?\d{1,12}(\.\d+)?$/.test(value)) throw createRejection(5109, { detail: `${name} ${value}` })
  return Number(value)
}

export function readAddress(payload: Payload | undefined): Address {
  return {
    contactName: readText(payload, 'ContactName', 100),
    companyName: readText(payload, 'CompanyName', 50),
    line1: readText(payload, 'AddressLine1', 50),
    line2: readText(payload, 'AddressLine2', 50),
    city: readText(payload, 'City', 50),
    state: readText(payload, 'State', 50),
    postcode: readText(payload, 'Postcode', 10),
    country: readText(payload, 'Country', 20),
  }
}

export function readContacts(payload: Payload | undefined): Contacts {
  const phones = findElement(payload, 'Phones')
  return {
    email: readText(payload, 'Email', 250),
    home: readText(phones, 'Home', 250),
    mobile: readText(phones, 'Mobile', 250),
    work: readText(phones, 'Work', 250),
  }
}
