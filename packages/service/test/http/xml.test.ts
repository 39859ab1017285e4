import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { readXml, textElement, textOf, xmlText } from '../../src/http/xml.ts'
import { limits } from '../../src/model/limits.ts'
import { assertFault } from '../support/assert-fault.ts'

const read = (text: string) => readXml(Buffer.from(text), 'a')
const nested = (depth: number) => `${'<a>'.repeat(depth)}${'</a>'.repeat(depth)}`
const siblings = (count: number) => `<a>${'<b></b>'.repeat(count)}</a>`

describe('XML', () => {
  it('is read up to the depth, number and size that are allowed, and not beyond', () => {
    assert.equal(read(nested(limits.xmlDepthMax)).name, 'a')
    assertFault(() => read(nested(limits.xmlDepthMax + 1)), 'InvalidXmlDocument')
    assert.equal(read(siblings(limits.xmlElementsMax - 1)).children.length, limits.xmlElementsMax - 1)
    assertFault(() => read(siblings(limits.xmlElementsMax)), 'InvalidXmlDocument')
    const padding = limits.xmlBodyBytesMax - '<a></a>'.length
    assert.equal(textOf(read(`<a>${'x'.repeat(padding)}</a>`)).length, padding)
    assertFault(() => read(`<a>${'x'.repeat(padding + 1)}</a>`), 'RequestBodyTooLarge')
  })

  it('is refused quickly when it is as deep as it is long', () => {
    const startMs = performance.now()
    assertFault(() => read('<a>'.repeat(21_000)), 'InvalidXmlDocument')
    assertFault(() => read(nested(9_000)), 'InvalidXmlDocument')
    assertFault(() => read(`<a ${'b="" '.repeat(12_000)}/>`), 'InvalidXmlDocument')
    assert(performance.now() - startMs < 1000)
  })

  it('comes back as it was written', () => {
    const character = fc.oneof(
      fc.constantFrom('&', '<', '>', '"', "'", '\t', '\n', '\r', ']]>', '<![CDATA[', '&amp;', '&#13;'),
      fc.string({ unit: 'grapheme', maxLength: 3 }),
    )
    const text = fc
      .array(character, { maxLength: 30 })
      .map((parts) => parts.join('').replaceAll(unwritable, ''))
    fc.assert(
      fc.property(text, (value) => {
        assert.equal(textOf(read(textElement('a', value))), value)
      }),
    )
  })

  it('shows what it cannot carry as U+FFFD', () => {
    assert.equal(xmlText('a\u0000b\u001fc\ud800d\uffff'), 'a\ufffdb\ufffdc\ufffdd\ufffd')
  })
})

const unwritable = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu
