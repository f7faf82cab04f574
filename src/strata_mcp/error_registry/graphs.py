"""Codes about graphs: nodes, edges, bindings, ontology and analytics."""

from __future__ import annotations

from strata_mcp.error_registry.base import AFTER_STATE_CHANGE, NEVER, NOT_APPLICABLE, NOT_STARTED, REPORT, section

_ONTOLOGY_HINT = "graph.ontology.get shows what the frozen ontology allows; change the item to fit it."

_STATE = section(
    NEVER,
    NOT_STARTED,
    {
        "already_exists.engine.graph": (
            "A graph of that name is there already.",
            "Use it, choose another name, or remove it first with graph.delete.",
        ),
        "failed_precondition.engine.graph_negative_weight": (
            "The graph has an edge of negative weight, and shortest paths need weights of at least 0.",
            "Leave such edges out with `edge_types`, or store other weights with graph.edge.add.",
        ),
        "failed_precondition.engine.graph_not_empty": (
            "The graph still has nodes or edges.",
            "Pass force=true to delete it with everything in it.",
        ),
        "failed_precondition.engine.graph_ontology_edge_type": (
            "The frozen ontology declares no link type of that name.",
            _ONTOLOGY_HINT,
        ),
        "failed_precondition.engine.graph_ontology_endpoint_type": (
            "The frozen ontology does not allow this link between nodes of these types.",
            _ONTOLOGY_HINT,
        ),
        "failed_precondition.engine.graph_ontology_freeze": (
            "The ontology is not complete enough to be frozen.",
            "Define at least one type, and every object type that a link type names, before graph.ontology.freeze.",
        ),
        "failed_precondition.engine.graph_ontology_frozen": (
            "The ontology is frozen and takes no more changes.",
            "Build a new graph with the ontology you want and insert the nodes and edges there.",
        ),
        "failed_precondition.engine.graph_ontology_node_type": (
            "The frozen ontology declares no object type of that name.",
            _ONTOLOGY_HINT,
        ),
        "failed_precondition.engine.graph_ontology_required_property": (
            "The node lacks a property its type requires.",
            "Add the property named in the details; null counts as present.",
        ),
    },
)

_ARGUMENTS = section(
    NEVER,
    NOT_STARTED,
    {
        "invalid_argument.engine.graph_batch": (
            "The batch of graph operations is not well formed; none of it was applied.",
            "Pass `operations` as a list of node and edge operations, each with all its fields.",
        ),
        "invalid_argument.engine.graph_binding": (
            "The binding of the node does not name a usable target.",
            "Pass `primitive`, `space` and `key` of the bound record, with a key that is not empty.",
        ),
        "invalid_argument.engine.graph_binding_record": ("A graph binding that breaks the rules was made.", REPORT),
        "invalid_argument.engine.graph_cursor": (
            "The cursor did not come from this listing.",
            "Pass `cursor` exactly as the previous page returned it, or leave it out to start over.",
        ),
        "invalid_argument.engine.graph_edge_endpoint": (
            "The edge names a node that is not there.",
            "Add both nodes first with graph.node.add, or put them before the edge in the batch.",
        ),
        "invalid_argument.engine.graph_edge_record": ("A graph edge that breaks the rules was made.", REPORT),
        "invalid_argument.engine.graph_edge_type": (
            "That text cannot be the type of an edge.",
            'Give 1 to 256 bytes of UTF-8 without control characters, such as "knows".',
        ),
        "invalid_argument.engine.graph_edge_type_reserved": (
            "Edge types that begin with an underscore belong to Strata.",
            "Choose a type that begins with another character.",
        ),
        "invalid_argument.engine.graph_edge_weight": (
            "The weight of an edge has to be a finite number.",
            "Replace NaN and infinities, or leave `weight` out.",
        ),
        "invalid_argument.engine.graph_metadata": ("A graph head record that breaks the rules was made.", REPORT),
        "invalid_argument.engine.graph_name": (
            "That text cannot be the name of a graph.",
            'Give 1 to 256 bytes of UTF-8 without slash and control characters, such as "people".',
        ),
        "invalid_argument.engine.graph_name_reserved": (
            "Graph names that begin with an underscore belong to Strata.",
            "Choose a name that begins with another character.",
        ),
        "invalid_argument.engine.graph_node_id": (
            "That text cannot be the id of a node.",
            "Give 1 to 1024 bytes of UTF-8 without control characters; leave `prefix` out to list every node.",
        ),
        "invalid_argument.engine.graph_node_record": ("A graph node that breaks the rules was made.", REPORT),
        "invalid_argument.engine.graph_ontology_record": ("A graph ontology that breaks the rules was made.", REPORT),
        "invalid_argument.engine.graph_pagerank_options": (
            "An option of the ranking is out of range.",
            "Pass `damping` from 0 to 1 and a finite `tolerance` of at least 0.",
        ),
        "invalid_argument.engine.graph_personalization": (
            "The starting weights of the ranking are not usable.",
            "Pass finite weights of at least 0 by node id, at least one of them above 0 on an existing node.",
        ),
        "invalid_argument.engine.graph_properties": (
            "Properties have to be a JSON object.",
            'Pass something like {"name": "Ada"}, or leave `properties` out.',
        ),
        "invalid_argument.engine.graph_properties_too_large": (
            "The properties are too large for one row (16 MiB).",
            "Keep the large part in a JSON document or KV value and bind the node to it.",
        ),
        "invalid_argument.engine.graph_property_name": (
            "A property declared in the ontology has no name.",
            "Give every declared property a name that is not empty.",
        ),
        "invalid_argument.engine.graph_type_hint": (
            "The cardinality of the link type is not one of the known ones.",
            "Pass `cardinality` as one-to-one, one-to-many, many-to-one or many-to-many, or leave it out.",
        ),
        "invalid_argument.engine.graph_type_index_record": (
            "A graph type index row that breaks the rules was made.",
            REPORT,
        ),
        "invalid_argument.engine.graph_type_name": (
            "That text cannot be the name of an object or link type.",
            'Give 1 to 256 bytes of UTF-8 without control characters, such as "Person".',
        ),
        "invalid_argument.engine.graph_type_name_reserved": (
            "Type names that begin with an underscore belong to Strata.",
            "Choose a name that begins with another character.",
        ),
        "invalid_argument.executor.graph_analytics_budget": (
            "The budget is not a usable number.",
            "Pass `budget` with max_nodes and max_edges as whole numbers of at least 0, or leave it out.",
        ),
    },
)

_READS = {
    **section(
        NEVER,
        NOT_APPLICABLE,
        {
            "not_found.engine.graph": (
                "There is no graph of that name in this branch and space.",
                "See what there is with graph.list, or make it with graph.create.",
            ),
            "not_found.engine.graph_node": (
                "The node to start from is not in the graph.",
                "Pass the id of an existing node; graph.node.list shows them.",
            ),
            "unsupported.engine.graph_binding_cross_branch": (
                "A node can only be bound to a record of its own branch.",
                "Leave the branch out of the binding, or write the record on this branch first.",
            ),
        },
    ),
    **section(
        AFTER_STATE_CHANGE,
        NOT_APPLICABLE,
        {
            "resource_exhausted.engine.graph_analytics_budget": (
                "The graph has more nodes or edges than the given budget.",
                "Raise `budget`, leave it out, or work on a smaller graph.",
            ),
        },
    ),
}

GRAPHS = {**_STATE, **_ARGUMENTS, **_READS}
